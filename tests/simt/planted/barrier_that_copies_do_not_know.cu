// Copies by __pipeline_memcpy_async() are used after a cuda::barrier. It knows nothing of them: nobody waits
// for their batch.
//
// expect: missing_wait at A, other side B
#include <cuda_pipeline.h>
#include <cuda/barrier>

__global__ void reverse(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> met;
  const int t = threadIdx.x;
  if (t == 0) init(&met, 64);
  __syncthreads();
  __pipeline_memcpy_async(&tile[t], &x[t], sizeof(float));  // B
  __pipeline_commit();
  met.arrive_and_wait();
  y[t] = tile[63 - t];  // A
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  reverse<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
