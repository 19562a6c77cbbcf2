// An index table holds an entry that the kernel's assertion does not allow. A failed assert() ends the
// launch and every call after it.
//
// expect: assertion at A
#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>

__global__ void gather(const float* x, int n, const int* index, float* y) {
  const int i = threadIdx.x;
  assert(index[i] >= 0 && index[i] < n);  // A
  y[i] = x[index[i]];
}

int main() {
  int indices[32], *index;
  float *x, *y;
  for (int i = 0; i < 32; ++i) indices[i] = i == 20 ? 32 : 31 - i;
  cudaMalloc(&index, sizeof indices);
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMalloc(&y, 32 * sizeof(float));
  cudaMemcpy(index, indices, sizeof indices, cudaMemcpyHostToDevice);
  cudaMemset(x, 0, 32 * sizeof(float));
  gather<<<1, 32>>>(x, 32, index, y);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(index);
  cudaFree(x);
  cudaFree(y);
  return 0;
}
