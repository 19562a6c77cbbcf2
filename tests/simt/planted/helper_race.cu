// The tile of b takes the place of the tile of a while other warps still add up the latter. Both accesses lie
// in helpers of a header; the calls are the program's own, and a __syncthreads() belongs between them.
//
// expect: race at A, other side B, tile[0]
#include "helpers/tile.hpp"

template <int kCount>
__global__ void sum_of_two(const float* a, const float* b, float* y) {
  __shared__ float tile[kCount];
  load_tile<kCount>(a, tile);
  __syncthreads();
  float sum = sum_tile<kCount>(tile);  // A
  load_tile<kCount>(b, tile);          // B
  __syncthreads();
  sum += sum_tile<kCount>(tile);
  y[threadIdx.x] = sum;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 256 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 256 * sizeof(float));
  const auto kernel = sum_of_two<256>;
  kernel<<<1, 64>>>(x, x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
