// A conversion for which the C library takes no argument, before one that reads a text. Check mode, which
// tells what printf reads by the format alone, ends the launch. See accesses_test.py.

#include <cuda_runtime.h>

#include <cstdio>

__global__ void print_texts(const char* text) {
  printf("%hhd %ld %-5.2f %.2s 100%% or 5%\n", 'a', 1L, 1.0, text);
  printf("%hld%.1s\n", text, "");
}

int main() {
  char* text = nullptr;
  cudaMalloc(&text, 32);
  cudaMemset(text, 'a', 32);
  print_texts<<<1, 1>>>(text);
  cudaDeviceSynchronize();
  cudaFree(text);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
