// Looks wrong: a local array is indexed by data and never initialised, and lanes loop very different numbers
// of times. It is right: what is popped was pushed before, and local memory belongs to one thread.

#include <cuda_runtime.h>

__global__ void tree_sums_kernel(const int* values, int nodes, int* sums) {  // children of i: 2i + 1, 2i + 2
  int stack[16], depth = 0, sum = 0;
  stack[depth++] = threadIdx.x;
  while (depth > 0) {
    const int node = stack[--depth];
    if (node >= nodes) continue;
    sum += values[node];
    stack[depth++] = 2 * node + 1;
    stack[depth++] = 2 * node + 2;
  }
  sums[threadIdx.x] = sum;
}

int main() {
  constexpr int kNodes = 60;
  int values[kNodes], sums[kNodes] = {}, *d_values, *d_sums;
  for (int i = 0; i < kNodes; ++i) values[i] = i + 1;
  cudaMalloc(&d_values, sizeof values);
  cudaMalloc(&d_sums, sizeof sums);
  cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice);
  tree_sums_kernel<<<1, kNodes>>>(d_values, kNodes, d_sums);
  cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost);
  cudaFree(d_values);
  cudaFree(d_sums);
  for (int i = kNodes - 1; i >= 0; --i) {
    int expected = values[i];
    for (int child = 2 * i + 1; child <= 2 * i + 2; ++child) expected += child < kNodes ? sums[child] : 0;
    if (sums[i] != expected) return 1;
  }
  return 0;
}
