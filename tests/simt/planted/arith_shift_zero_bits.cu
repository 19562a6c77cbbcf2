// A bit field of zero width is extracted by a shift to the right by 32 - 0. The count of a shift must be
// smaller than the width of the type: width zero needs a case of its own.
//
// expect: shift at A
#include <cuda_runtime.h>

__global__ void top_bits(const unsigned* words, const int* widths, unsigned* fields) {
  const int t = threadIdx.x;
  fields[t] = words[t] >> (32 - widths[t]);  // A
}

int main() {
  int widths[32], *widths_device;
  unsigned *words, *fields;
  for (int i = 0; i < 32; ++i) widths[i] = i % 8;
  cudaMalloc(&words, 32 * sizeof(unsigned));
  cudaMalloc(&widths_device, sizeof widths);
  cudaMalloc(&fields, 32 * sizeof(unsigned));
  cudaMemset(words, 0xa5, 32 * sizeof(unsigned));
  cudaMemcpy(widths_device, widths, sizeof widths, cudaMemcpyHostToDevice);
  top_bits<<<1, 32>>>(words, widths_device, fields);
  cudaDeviceSynchronize();
  cudaFree(words);
  cudaFree(widths_device);
  cudaFree(fields);
  return 0;
}
