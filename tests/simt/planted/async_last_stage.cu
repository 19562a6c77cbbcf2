// A double-buffered kernel always leaves one batch in flight, also for the last tile, behind which there is
// no batch. __pipeline_wait_prior(1) waits for all batches but the newest; the last tile is the newest.
//
// expect: missing_wait at A, other side B
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void sum_reversed(const float* x, float* y, int tiles) {
  __shared__ float buffer[2][64];
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int tile = 0; tile <= tiles; ++tile) {
    if (tile < tiles) {
      __pipeline_memcpy_async(&buffer[tile % 2][t], &x[tile * 64 + t], sizeof(float));  // B
      __pipeline_commit();
    }
    if (tile == 0) continue;
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += buffer[(tile - 1) % 2][63 - t];  // A
    __syncthreads();
  }
  y[t] = sum;
}

int main() {
  const int tiles = 4;
  float *x, *y;
  cudaMalloc(&x, tiles * 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, tiles * 64 * sizeof(float));
  sum_reversed<<<1, 64>>>(x, y, tiles);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
