// A kernel reads float4 from an array that begins one float behind an aligned address. An access of 16 bytes
// needs an address that is a multiple of 16.
//
// expect: misaligned at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void sum_quads(const float* x, float* sums) {
  const float4 v = *reinterpret_cast<const float4*>(x + 4 * threadIdx.x);  // A
  sums[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main() {
  float *x, *sums;
  cudaMalloc(&x, 132 * sizeof(float));
  cudaMalloc(&sums, 32 * sizeof(float));
  cudaMemset(x, 0, 132 * sizeof(float));
  sum_quads<<<1, 32>>>(x + 1, sums);  // without the header element
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(x);
  cudaFree(sums);
  return 0;
}
