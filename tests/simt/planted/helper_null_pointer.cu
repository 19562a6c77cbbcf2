// A helper follows the pointer that the kernel gives it, which is null.
//
// expect: null_pointer at A
#include "helpers/tile.hpp"

__global__ void sum_all(const float* x, float* y) {
  *y = sum_tile<32>(x);  // A
}

int main() {
  float* y;
  cudaMalloc(&y, sizeof(float));
  sum_all<<<1, 1>>>(nullptr, y);
  cudaDeviceSynchronize();
  return 0;
}
