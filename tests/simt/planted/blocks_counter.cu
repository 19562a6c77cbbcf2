// Blocks count themselves with (*done)++, which is a read and a write. Between blocks only atomics make
// read, add and write one step.
//
// expect: race at A, other side A, done[0]
#include <cuda_runtime.h>

__global__ void scale(float* x, float factor, int* done) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
  __syncthreads();
  if (threadIdx.x == 0) (*done)++;  // A
}

int main() {
  float* x;
  int *done, count = 0;
  cudaMalloc(&x, 512 * sizeof(float));
  cudaMalloc(&done, sizeof(int));
  cudaMemset(x, 0, 512 * sizeof(float));
  cudaMemset(done, 0, sizeof(int));
  scale<<<4, 128>>>(x, 2.0f, done);
  cudaMemcpy(&count, done, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(done);
  return 0;
}
