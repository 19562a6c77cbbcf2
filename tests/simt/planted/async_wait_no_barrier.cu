// Each thread waits for its own asynchronous copy and then reads the copy of a thread of another warp. A
// wait covers the caller's copies only; those of others are there after a __syncthreads() behind the wait.
//
// expect: race at A, other side B
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void reverse(const int* x, int* y) {
  __shared__ int tile[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  __pipeline_memcpy_async(&tile[t], &x[i], sizeof(int));  // B
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[i] = tile[127 - t];  // A
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  reverse<<<2, 128>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
