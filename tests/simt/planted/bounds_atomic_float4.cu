// Adds four floats at once where an array has only two more. All of them must lie inside the array.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

__global__ void add(float* sums, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (4 * i < n) atomicAdd(reinterpret_cast<float4*>(sums) + i, make_float4(1, 2, 3, 4));  // A
}

int main() {
  const int n = 6;
  float* sums;
  cudaMalloc(&sums, n * sizeof(float));
  cudaMemset(sums, 0, n * sizeof(float));
  add<<<1, 32>>>(sums, n);
  cudaDeviceSynchronize();
  cudaFree(sums);
  return 0;
}
