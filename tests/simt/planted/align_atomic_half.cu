// Adds pairs of halves, and begins at the second half of the array.
//
// expect: misaligned at A
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void add(__half* sums) {
  auto* const pairs = reinterpret_cast<__half2*>(sums + 1);
  atomicAdd(&pairs[threadIdx.x], __floats2half2_rn(1.0f, 2.0f));  // A
}

int main() {
  const int n = 66;
  __half* sums;
  cudaMalloc(&sums, n * sizeof(__half));
  cudaMemset(sums, 0, n * sizeof(__half));
  add<<<1, 32>>>(sums);
  cudaDeviceSynchronize();
  cudaFree(sums);
  return 0;
}
