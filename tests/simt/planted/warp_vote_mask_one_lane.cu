// Lane 0 is left out of the mask of a vote that it takes part in. The caller of __any_sync() must be in the
// mask that it passes.
//
// expect: illegal_mask at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void any_negative(const float* x, int* answer) {
  const int lane = threadIdx.x;
  const int any = __any_sync(0xfffffffe, x[lane] < 0.0f);  // A
  if (lane == 31) *answer = any;
}

int main() {
  float* x;
  int* answer;
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMalloc(&answer, sizeof(int));
  cudaMemset(x, 0, 32 * sizeof(float));
  any_negative<<<1, 32>>>(x, answer);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(x);
  cudaFree(answer);
  return 0;
}
