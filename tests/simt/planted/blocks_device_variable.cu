// Blocks add their sums to a __device__ variable with +=. A __device__ variable is global memory: several
// blocks may add to it only with atomicAdd().
//
// expect: race at A, other side A, total
#include <cuda_runtime.h>

__device__ float total = 0.0f;

__global__ void sum(const float* x) {
  float v = x[blockIdx.x * 32 + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  if (threadIdx.x == 0) total += v;  // A
}

int main() {
  float values[96], *x;
  for (int i = 0; i < 96; ++i) values[i] = 1.0f + i;
  cudaMalloc(&x, sizeof values);
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  sum<<<3, 32>>>(x);
  cudaMemcpyFromSymbol(values, total, sizeof(float));
  cudaFree(x);
  return 0;
}
