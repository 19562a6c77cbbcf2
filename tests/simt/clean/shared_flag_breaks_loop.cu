// Looks wrong: threads break out of a loop that holds barriers, by a flag that thread 0 changes in every
// round. It is right: all read the flag between two barriers, so they read the same and leave together.

#include <cuda_runtime.h>

__global__ void halve_until_small_kernel(int* values, int limit, int* rounds) {
  __shared__ bool done;
  const int thread = threadIdx.x;
  int round = 0;
  while (true) {
    __syncthreads();  // all values of the last round are there, and all have read the flag
    if (thread == 0) {
      int sum = 0;
      for (int i = 0; i < blockDim.x; ++i) sum += values[i];
      done = sum <= limit;
    }
    __syncthreads();  // the flag is there, and thread 0 has read the values
    if (done) break;
    values[thread] /= 2;
    ++round;
  }
  if (thread == 0) *rounds = round;
}

int main() {
  int values[64], rounds = 0, expected = 0, sum = 0, *d_values, *d_rounds;
  for (int i = 0; i < 64; ++i) sum += values[i] = 3 * i;
  cudaMalloc(&d_values, sizeof values);
  cudaMalloc(&d_rounds, sizeof rounds);
  cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice);
  halve_until_small_kernel<<<1, 64>>>(d_values, 500, d_rounds);
  cudaMemcpy(&rounds, d_rounds, sizeof rounds, cudaMemcpyDeviceToHost);
  cudaFree(d_values);
  cudaFree(d_rounds);
  for (; sum > 500; ++expected) {
    sum = 0;
    for (int& value : values) sum += value /= 2;
  }
  return rounds == expected && rounds > 0 ? 0 : 1;
}
