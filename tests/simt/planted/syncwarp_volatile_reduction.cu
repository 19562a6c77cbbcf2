// The last warp of a reduction counts on volatile and on its lanes running in step. Since Volta lanes
// advance independently: __syncwarp() must stand between one lane's write and another's read.
//
// expect: missing_syncwarp at A, other side A
#include <cuda_runtime.h>

__global__ void sum_blocks(const float* x, float* sums) {
  __shared__ volatile float s[64];
  const int t = threadIdx.x;
  s[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  if (t < 32)
    for (int offset = 32; offset > 0; offset /= 2) s[t] = s[t] + s[t + offset];  // A
  if (t == 0) sums[blockIdx.x] = s[0];
}

int main() {
  float *x, *sums;
  cudaMalloc(&x, 128 * sizeof(float));
  cudaMalloc(&sums, 2 * sizeof(float));
  cudaMemset(x, 0, 128 * sizeof(float));
  sum_blocks<<<2, 64>>>(x, sums);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sums);
  return 0;
}
