// Looks wrong: a shuffle takes its mask from __activemask() inside a divergent branch, and one lane alone
// does the atomic. It is right: the lanes that read the mask together also shuffle together, and any grouping
// gives the same total.

#include <cuda_runtime.h>

__device__ int next_slot(int* counter) {
  const unsigned mask = __activemask(), lane = threadIdx.x % 32;
  const int leader = __ffs(mask) - 1;
  int first = 0;
  if (lane == leader) first = atomicAdd(counter, __popc(mask));
  first = __shfl_sync(mask, first, leader);
  return first + __popc(mask & ((1u << lane) - 1u));
}

__global__ void keep_multiples_kernel(const int* in, int* kept, int* counter) {
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (value % 3 == 0) kept[next_slot(counter)] = value;
}

int main() {
  constexpr int kN = 256;
  int in[kN], kept[kN] = {}, count = 0, *d_in, *d_kept, *d_counter;
  for (int i = 0; i < kN; ++i) in[i] = i;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_kept, sizeof kept);
  cudaMalloc(&d_counter, sizeof count);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemset(d_counter, 0, sizeof count);
  keep_multiples_kernel<<<4, 64>>>(d_in, d_kept, d_counter);
  cudaMemcpy(&count, d_counter, sizeof count, cudaMemcpyDeviceToHost);
  cudaMemcpy(kept, d_kept, count * sizeof(int), cudaMemcpyDeviceToHost);  // the rest was never written
  cudaFree(d_in);
  cudaFree(d_kept);
  cudaFree(d_counter);
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += kept[i] % 3 == 0 ? kept[i] : 100000;
  return count == 86 && sum == 3 * 85 * 86 / 2 ? 0 : 1;
}
