// A copy within the device fills one half of the flags with the other. Host code has set the first of those
// alone.
//
// expect: uninitialised_read at A, flags[1]
#include <cuda_runtime.h>

__global__ void count(const int* flags, int* raised, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += flags[i];  // A
  *raised = sum;
}

int main() {
  const int n = 32;
  int *flags, *raised;
  cudaMalloc(&flags, 2 * n * sizeof(int));
  cudaMalloc(&raised, sizeof(int));
  cudaMemset(flags + n, 0, sizeof(int));
  cudaMemcpyAsync(flags, flags + n, n * sizeof(int), cudaMemcpyDeviceToDevice);
  count<<<1, 1>>>(flags, raised, n);
  cudaDeviceSynchronize();
  cudaFree(flags);
  cudaFree(raised);
  return 0;
}
