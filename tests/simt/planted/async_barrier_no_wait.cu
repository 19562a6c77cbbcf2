// A kernel has a barrier between an asynchronous copy and its use, but nobody waits for the copy.
// __syncthreads() does not wait for asynchronous copies: each thread waits for its own, then the barrier
// shows them.
//
// expect: missing_wait at A, other side B
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void reverse(const float4* x, float4* y) {
  __shared__ float4 tile[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &x[t], sizeof(float4));  // B
  __pipeline_commit();
  __syncthreads();
  y[t] = tile[63 - t];  // A
}

int main() {
  float4 *x, *y;
  cudaMalloc(&x, 64 * sizeof(float4));
  cudaMalloc(&y, 64 * sizeof(float4));
  cudaMemset(x, 0, 64 * sizeof(float4));
  reverse<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
