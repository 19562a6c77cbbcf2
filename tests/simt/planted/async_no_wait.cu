// A kernel reads its element of an asynchronous copy that it never waited for. The bytes of
// __pipeline_memcpy_async() are there after __pipeline_wait_prior() and not before.
//
// expect: missing_wait at A, other side B
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void scale(const float* x, float* y) {
  __shared__ float tile[64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  __pipeline_memcpy_async(&tile[t], &x[i], sizeof(float));  // B
  __pipeline_commit();
  y[i] = 3.0f * tile[t];  // A
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 128 * sizeof(float));
  cudaMalloc(&y, 128 * sizeof(float));
  cudaMemset(x, 0, 128 * sizeof(float));
  scale<<<2, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
