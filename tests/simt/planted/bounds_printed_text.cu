// The text that a kernel prints lacks the zero at its end, so that printf reads on behind the allocation.
//
// expect: out_of_bounds at A, name[4]
#include <cuda_runtime.h>

#include <cstdio>

__global__ void greet_kernel(const char* name, int letters) {
  printf("%.*s\n", letters, name);
  printf("hello %s\n", name);  // A
}

int main() {
  const char name[] = {'A', 'd', 'a', '!'};
  char* d_name;
  cudaMalloc(&d_name, sizeof name);
  cudaMemcpy(d_name, name, sizeof name, cudaMemcpyHostToDevice);
  greet_kernel<<<1, 1>>>(d_name, static_cast<int>(sizeof name));
  cudaDeviceSynchronize();
  cudaFree(d_name);
}
