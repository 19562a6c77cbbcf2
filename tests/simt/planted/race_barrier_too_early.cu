// The barrier of a block reduction stands before the values are stored instead of after. A barrier orders
// what stands before it with what comes after; here the stores and the first step share one side.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void max_blocks(const float* x, float* largest) {
  __shared__ float values[128];
  const int t = threadIdx.x;
  const float mine = x[blockIdx.x * 128 + t];
  __syncthreads();
  values[t] = mine;  // A
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) values[t] = fmaxf(values[t], values[t + half]);  // B
    __syncthreads();
  }
  if (t == 0) largest[blockIdx.x] = values[0];
}

int main() {
  float *x, *largest;
  cudaMalloc(&x, 256 * sizeof(float));
  cudaMalloc(&largest, 2 * sizeof(float));
  cudaMemset(x, 0, 256 * sizeof(float));
  max_blocks<<<2, 128>>>(x, largest);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(largest);
  return 0;
}
