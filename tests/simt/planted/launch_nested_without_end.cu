// A kernel launches itself for the rest of its values, and forgets to stop where there are none.
//
// expect: unchecked_error at A
#include <cuda_runtime.h>

__global__ void count(int* values, int first, int n) {
  if (first < n) values[first] = first;
  count<<<1, 1>>>(values, first + 1, n);  // A
}

int main() {
  const int n = 8;
  int* values;
  cudaMalloc(&values, n * sizeof(int));
  count<<<1, 1>>>(values, 0, n);
  cudaDeviceSynchronize();
  cudaFree(values);
  return 0;
}
