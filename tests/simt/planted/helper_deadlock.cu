// Half of each warp adds up its values by a helper whose shuffles name all 32 lanes, while the other half
// goes on to a barrier.
//
// expect: deadlock at A
#include "helpers/tile.hpp"

__global__ void sum_of_halves(float* x) {
  float value = x[threadIdx.x];
  if (threadIdx.x % 32 < 16) value = sum_warp(value);  // A
  __syncthreads();
  x[threadIdx.x] = value;
}

int main() {
  float* x;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  sum_of_halves<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  return 0;
}
