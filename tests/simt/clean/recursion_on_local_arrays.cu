// Looks wrong: a recursive function passes pointers into the stacks of its callers, and arrays are filled
// only in part. It is right: the stack is each thread's own, and no element is read that was not written.

#include <cuda_runtime.h>

__device__ int partitions(int rest, int largest, int* parts, int depth, int* longest) {
  if (rest == 0) {
    int length = 0;
    for (int i = 0; i < depth; ++i) length += parts[i] > 0;
    *longest = max(*longest, length);
    return 1;
  }
  int count = 0;
  for (int part = min(rest, largest); part > 0; --part) {
    parts[depth] = part;
    count += partitions(rest - part, part, parts, depth + 1, longest);
  }
  return count;
}

__global__ void partitions_kernel(int* counts, int* longest_parts) {
  int parts[16], longest = 0;
  counts[threadIdx.x] = partitions(threadIdx.x, threadIdx.x, parts, 0, &longest);
  longest_parts[threadIdx.x] = longest;
}

int main() {
  const int expected[11] = {1, 1, 2, 3, 5, 7, 11, 15, 22, 30, 42};
  int counts[11] = {}, longest[11] = {}, *d_counts, *d_longest;
  cudaMalloc(&d_counts, sizeof counts);
  cudaMalloc(&d_longest, sizeof longest);
  partitions_kernel<<<1, 11>>>(d_counts, d_longest);
  cudaMemcpy(counts, d_counts, sizeof counts, cudaMemcpyDeviceToHost);
  cudaMemcpy(longest, d_longest, sizeof longest, cudaMemcpyDeviceToHost);
  cudaFree(d_counts);
  cudaFree(d_longest);
  for (int n = 0; n < 11; ++n)
    if (counts[n] != expected[n] || longest[n] != n) return 1;
  return 0;
}
