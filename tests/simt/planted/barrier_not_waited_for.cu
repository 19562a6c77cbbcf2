// One warp brings data with the copies of a cuda::barrier, whose phase has ended before another warp reads
// them, as the block runs; but that warp has never waited for the phase.
//
// expect: race at A, other side B
#include <cooperative_groups.h>
#include <cuda/barrier>

__global__ void reverse(const float* x, float* y) {
  __shared__ float tile[32];
  __shared__ int ready;
  __shared__ cuda::barrier<cuda::thread_scope_block> filled;
  const int t = threadIdx.x;
  if (t == 0) init(&filled, 32), ready = 0;
  __syncthreads();
  if (t < 32) {
    cuda::memcpy_async(&tile[t], &x[t], sizeof(float), filled);  // B
    filled.arrive_and_wait();
    if (t == 0) atomicExch(&ready, 1);
  } else {
    while (atomicAdd(&ready, 0) == 0) {
    }
    y[t - 32] = tile[t - 32];  // A
  }
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
