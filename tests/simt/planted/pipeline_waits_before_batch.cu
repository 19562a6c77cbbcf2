// A thread waits by the number that commit() returned, as if wait() took the batch of that number in. CUDA's
// header waits for the batches before it alone, and so the copy may still be under way.
//
// expect: missing_wait at A, other side B
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void copy(const float4* x, float4* y) {
  __shared__ float4 tile[64];
  const int t = threadIdx.x;
  nvcuda::experimental::pipeline pipeline;
  nvcuda::experimental::memcpy_async(tile[t], x[t], pipeline);  // B
  const std::size_t batch = pipeline.commit();
  pipeline.wait(batch);
  y[t] = tile[t];  // A
}

int main() {
  float4 *x, *y;
  cudaMalloc(&x, 64 * sizeof(float4));
  cudaMalloc(&y, 64 * sizeof(float4));
  cudaMemset(x, 0, 64 * sizeof(float4));
  copy<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
