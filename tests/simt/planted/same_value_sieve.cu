// Threads strike out the multiples of their numbers, and a number with two divisors is struck out twice.
// Both write the same byte, unordered, with the same value: legal in effect, and worth knowing.
//
// expect: same_value_write at A, other side A
#include <cuda_runtime.h>

__global__ void strike_out(char* composite, int n) {
  const int divisor = 2 + threadIdx.x;
  for (int multiple = 2 * divisor; multiple < n; multiple += divisor) composite[multiple] = 1;  // A
}

int main() {
  const int n = 200;
  char* composite;
  cudaMalloc(&composite, n);
  cudaMemset(composite, 0, n);
  strike_out<<<1, 14>>>(composite, n);
  cudaDeviceSynchronize();
  cudaFree(composite);
  return 0;
}
