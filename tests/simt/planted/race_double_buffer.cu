// A prefetch two tiles ahead goes into the buffer that is read in the same iteration: that distance needs
// three buffers. A buffer may be refilled only after a __syncthreads() behind its last read.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void correlate_reversed(const float* x, float* y, int tiles) {
  __shared__ float buffer[2][128];
  const int t = threadIdx.x;
  buffer[0][t] = x[t];
  buffer[1][t] = x[128 + t];
  float sum = 0.0f;
  for (int tile = 0; tile < tiles; ++tile) {
    __syncthreads();
    sum += x[tile * 128 + t] * buffer[tile % 2][127 - t];                       // B
    if (tile + 2 < tiles) buffer[(tile + 2) % 2][t] = x[(tile + 2) * 128 + t];  // A
  }
  y[t] = sum;
}

int main() {
  const int tiles = 5;
  float *x, *y;
  cudaMalloc(&x, tiles * 128 * sizeof(float));
  cudaMalloc(&y, 128 * sizeof(float));
  cudaMemset(x, 0, tiles * 128 * sizeof(float));
  correlate_reversed<<<1, 128>>>(x, y, tiles);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
