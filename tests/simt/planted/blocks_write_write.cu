// Every block stores its own maximum in the one result. Blocks of a launch run in any order and at the same
// time: one element written by several needs an atomic.
//
// expect: race at A, other side A, result[0]
#include <cuda_runtime.h>

__global__ void find_max(const int* x, int* result) {
  int v = x[blockIdx.x * 32 + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) v = max(v, __shfl_down_sync(0xffffffff, v, offset));
  if (threadIdx.x == 0) *result = v;  // A
}

int main() {
  int values[128], *x, *result;
  for (int i = 0; i < 128; ++i) values[i] = i;
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&result, sizeof(int));
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  find_max<<<4, 32>>>(x, result);
  cudaMemcpy(values, result, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(result);
  return 0;
}
