// Records of five bytes hold an int behind a tag byte, and the kernel reads it through an int pointer. An
// access of 4 bytes needs an address that is a multiple of 4; packed bytes are put together one by one.
//
// expect: misaligned at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void unpack(const unsigned char* records, int* values) {
  const unsigned char* record = records + 5 * threadIdx.x;
  values[threadIdx.x] = *reinterpret_cast<const int*>(record + 1);  // A
}

int main() {
  unsigned char* records;
  int* values;
  cudaMalloc(&records, 5 * 32);
  cudaMalloc(&values, 32 * sizeof(int));
  cudaMemset(records, 0, 5 * 32);
  unpack<<<1, 32>>>(records, values);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(records);
  cudaFree(values);
  return 0;
}
