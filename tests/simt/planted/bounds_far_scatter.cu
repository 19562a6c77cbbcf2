// A scatter follows an index table whose unused entries hold a large marker, and forgets to skip them. An
// index that comes from data must be checked before it is used.
//
// expect: out_of_bounds at A, out[1000000]
#include <cuda_runtime.h>

__global__ void scatter(const int* target, float* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[target[i]] = i;  // A
}

int main() {
  const int n = 64, unused = 1000000;
  int targets[n], *target;
  float* out;
  for (int i = 0; i < n; ++i) targets[i] = i == 40 ? unused : n - 1 - i;
  cudaMalloc(&target, sizeof targets);
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(target, targets, sizeof targets, cudaMemcpyHostToDevice);
  scatter<<<1, n>>>(target, out, n);
  cudaDeviceSynchronize();
  cudaFree(target);
  cudaFree(out);
  return 0;
}
