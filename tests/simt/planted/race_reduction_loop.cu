// A tree reduction across warps has no barrier between its steps. Each step reads what other warps wrote in
// the step before, so __syncthreads() belongs at the end of the loop's body.
//
// expect: race at A, other side A
#include <cuda_runtime.h>

__global__ void sum_blocks(const float* x, float* sums) {
  __shared__ float partial[256];
  const int t = threadIdx.x;
  partial[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int half = 128; half >= 32; half /= 2)
    if (t < half) partial[t] += partial[t + half];  // A
  if (t < 32) {
    float v = partial[t];
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    if (t == 0) sums[blockIdx.x] = v;
  }
}

int main() {
  float *x, *sums;
  cudaMalloc(&x, 512 * sizeof(float));
  cudaMalloc(&sums, 2 * sizeof(float));
  cudaMemset(x, 0, 512 * sizeof(float));
  sum_blocks<<<2, 256>>>(x, sums);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sums);
  return 0;
}
