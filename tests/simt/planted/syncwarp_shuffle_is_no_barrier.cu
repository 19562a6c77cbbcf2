// A shuffle between a store to shared memory and a load of it is taken for a barrier. Shuffles exchange
// registers and order no memory; __syncwarp() does.
//
// expect: missing_syncwarp at A, other side B
#include <cuda_runtime.h>

__global__ void softmax_reversed(const float* x, float* y) {
  __shared__ float weights[32];
  const int lane = threadIdx.x, i = blockIdx.x * 32 + lane;
  const float weight = expf(x[i]);
  weights[lane] = weight;  // A
  float sum = weight;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  y[i] = weights[31 - lane] / sum;  // B
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  softmax_reversed<<<2, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
