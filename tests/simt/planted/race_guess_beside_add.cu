// Each thread copies a counter by a plain read, while some add to it. A compare-and-swap by one thread makes
// its own read a first guess. The reads of the others race with the additions all the same.
//
// expect: race at A, other side B, count[0]
#include <cuda_runtime.h>

__global__ void copy_count(int* count, int* copies) {
  const int i = threadIdx.x;
  if (i % 32 == 1) atomicAdd(count, 1);  // B
  const int guess = *count;              // A
  if (i == 63) atomicCAS(count, guess, guess + 1);
  copies[i] = guess;
}

int main() {
  int *count, *copies;
  cudaMalloc(&count, sizeof(int));
  cudaMalloc(&copies, 64 * sizeof(int));
  cudaMemset(count, 0, sizeof(int));
  copy_count<<<1, 64>>>(count, copies);
  cudaDeviceSynchronize();
  cudaFree(count);
  cudaFree(copies);
  return 0;
}
