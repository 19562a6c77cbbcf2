// Looks wrong: threads of several warps print shared memory, some in a branch.
// It is right: what they print was complete before a barrier, and printing changes nothing.

#include <cuda_runtime.h>

#include <cstdio>

__global__ void show_kernel(const char* word, int n, int* printed) {
  __shared__ char reversed[16];
  const int thread = threadIdx.x;
  if (thread < n) reversed[n - 1 - thread] = word[thread];
  if (thread == n) reversed[n] = '\0';
  __syncthreads();
  if (thread % 32 == 0) {
    printf("warp %d: %s, %.2f\n", thread / 32, reversed, thread / 4.0);
    atomicAdd(printed, 1);
  }
}

int main() {
  char* d_word;
  int printed = 0, *d_printed;
  cudaMalloc(&d_word, 7);
  cudaMalloc(&d_printed, sizeof printed);
  cudaMemcpy(d_word, "stressed", 7, cudaMemcpyHostToDevice);  // without its last letter
  cudaMemset(d_printed, 0, sizeof printed);
  show_kernel<<<1, 96>>>(d_word, 7, d_printed);
  cudaMemcpy(&printed, d_printed, sizeof printed, cudaMemcpyDeviceToHost);
  cudaFree(d_word);
  cudaFree(d_printed);
  return printed == 3 ? 0 : 1;
}
