// Looks wrong: no single call initialises the whole array that the kernel reads.
// It is right: a memset, a copy from the host, a copy on the device and a kernel cover it together.

#include <cuda_runtime.h>

__global__ void fill_kernel(short* values, int first, int n) {
  const int i = threadIdx.x;
  if (i < n) values[first + i] = 7 * i;
}

__global__ void sum_kernel(const short* values, int n, int* sum) {
  int mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine += values[i];
  atomicAdd(sum, mine);
}

int main() {
  constexpr int kN = 101;
  short host[33], *d_values;
  int sum = 0, expected = 0, *d_sum;
  for (int i = 0; i < 33; ++i) host[i] = i + 1;
  cudaMalloc(&d_values, kN * sizeof(short));
  cudaMalloc(&d_sum, sizeof sum);
  cudaMemset(d_sum, 0, sizeof sum);
  cudaMemset(d_values, 1, 5 * sizeof(short));                                             // [0, 5)
  cudaMemcpy(d_values + 5, host, sizeof host, cudaMemcpyHostToDevice);                    // [5, 38)
  cudaMemcpy(d_values + 38, d_values + 3, 31 * sizeof(short), cudaMemcpyDeviceToDevice);  // [38, 69)
  fill_kernel<<<1, 64>>>(d_values, 69, 32);                                               // [69, 101)
  sum_kernel<<<1, 64>>>(d_values, kN, d_sum);
  cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
  cudaFree(d_values);
  cudaFree(d_sum);
  for (int i = 0; i < 5; ++i) expected += 0x0101;
  for (int value : host) expected += value;
  for (int i = 0; i < 31; ++i) expected += i < 2 ? 0x0101 : host[i - 2];
  for (int i = 0; i < 32; ++i) expected += 7 * i;
  return sum == expected ? 0 : 1;
}
