// The output was never allocated: the pointer that the kernel gets is null. A kernel may not follow a null
// pointer.
//
// expect: null_pointer at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void iota(int* out) {
  out[threadIdx.x] = threadIdx.x;  // A
}

int main() {
  int* out = nullptr;
  iota<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  return 0;
}
