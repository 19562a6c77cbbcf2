// A kernel uses what copies bring once its threads have arrived at the cuda::barrier of the copies, and waits
// for the barrier only then.
//
// expect: missing_wait at A, other side B
#include <cooperative_groups.h>
#include <cuda/barrier>

#include <utility>

__global__ void reverse(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> filled;
  const int t = threadIdx.x;
  if (t == 0) init(&filled, 64);
  __syncthreads();
  cuda::memcpy_async(&tile[t], &x[t], sizeof(float), filled);  // B
  auto token = filled.arrive();
  y[63 - t] = tile[t];  // A
  filled.wait(std::move(token));
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
