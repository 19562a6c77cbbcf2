// A hash of int keys overflows to negative values, whose remainder is a negative bucket. In C++ the sign of
// a % b is that of a: an index must be computed in unsigned arithmetic.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

constexpr int kBuckets = 32;

__global__ void count_buckets(const int* keys, int n, int* buckets) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int bucket = keys[i] * 1640531527 % kBuckets;
  atomicAdd(&buckets[bucket], 1);  // A
}

int main() {
  const int n = 100;
  int values[n], *keys, *buckets;
  for (int i = 0; i < n; ++i) values[i] = i + 1;
  cudaMalloc(&keys, sizeof values);
  cudaMalloc(&buckets, kBuckets * sizeof(int));
  cudaMemcpy(keys, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemset(buckets, 0, kBuckets * sizeof(int));
  count_buckets<<<1, 128>>>(keys, n, buckets);
  cudaDeviceSynchronize();
  cudaFree(keys);
  cudaFree(buckets);
  return 0;
}
