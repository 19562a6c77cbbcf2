// All lanes call a shuffle with a mask that names the lower half of the warp. A lane that calls a warp
// operation must be named in its mask.
//
// expect: illegal_mask at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void sum_half_warps(const float* x, float* sums) {
  float v = x[threadIdx.x];
  for (int offset = 8; offset > 0; offset /= 2) v += __shfl_xor_sync(0x0000ffff, v, offset);  // A
  if (threadIdx.x % 16 == 0) sums[threadIdx.x / 16] = v;
}

int main() {
  float *x, *sums;
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMalloc(&sums, 2 * sizeof(float));
  cudaMemset(x, 0, 32 * sizeof(float));
  sum_half_warps<<<1, 32>>>(x, sums);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(x);
  cudaFree(sums);
  return 0;
}
