// Adds four floats at once where only pairs are aligned.
//
// expect: misaligned at A
#include <cuda_runtime.h>

__global__ void add(float* sums) {
  atomicAdd(reinterpret_cast<float4*>(sums + 4 * threadIdx.x + 2), make_float4(1, 2, 3, 4));  // A
}

int main() {
  const int n = 132;
  float* sums;
  cudaMalloc(&sums, n * sizeof(float));
  cudaMemset(sums, 0, n * sizeof(float));
  add<<<1, 32>>>(sums);
  cudaDeviceSynchronize();
  cudaFree(sums);
  return 0;
}
