// Looks wrong: shared memory is read right after it was written, and the barrier is met by a single thread.
// It is right: a block of one thread has nobody to wait for.

#include <cuda_runtime.h>

__global__ void digits_kernel(const int* numbers, int* sums) {
  __shared__ int digits[10];
  int count = 0;
  for (int rest = numbers[blockIdx.x]; rest > 0; rest /= 10) digits[count++] = rest % 10;
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += digits[i];  // the rest of the array stays uninitialised and unread
  __syncthreads();
  digits[0] = sum;
  sums[blockIdx.x] = digits[0];
}

int main() {
  int numbers[40], sums[40] = {}, *d_numbers, *d_sums;
  for (int i = 0; i < 40; ++i) numbers[i] = 97 * i * i + 13;
  cudaMalloc(&d_numbers, sizeof numbers);
  cudaMalloc(&d_sums, sizeof sums);
  cudaMemcpy(d_numbers, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  digits_kernel<<<40, 1>>>(d_numbers, d_sums);
  cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost);
  cudaFree(d_numbers);
  cudaFree(d_sums);
  for (int i = 0; i < 40; ++i) {
    int expected = 0;
    for (int rest = numbers[i]; rest > 0; rest /= 10) expected += rest % 10;
    if (sums[i] != expected) return 1;
  }
  return 0;
}
