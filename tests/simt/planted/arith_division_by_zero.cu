// The mean of each cluster is computed although one cluster has no members. An integer division by zero is
// undefined: empty clusters need a case of their own.
//
// expect: division_by_zero at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void means(const int* sums, const int* counts, int* out) {
  const int c = threadIdx.x;
  out[c] = sums[c] / counts[c];  // A
}

int main() {
  const int k = 8, members[k] = {3, 1, 4, 1, 5, 0, 2, 6};
  int *sums, *counts, *out;
  cudaMalloc(&sums, sizeof members);
  cudaMalloc(&counts, sizeof members);
  cudaMalloc(&out, sizeof members);
  cudaMemset(sums, 1, sizeof members);
  cudaMemcpy(counts, members, sizeof members, cudaMemcpyHostToDevice);
  means<<<1, k>>>(sums, counts, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(sums);
  cudaFree(counts);
  cudaFree(out);
  return 0;
}
