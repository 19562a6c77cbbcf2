// Sorting in global memory, one launch per step, and whole tiles in shared memory.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

template <typename T>
__device__ inline void comparator(T& keyA, T& keyB, bool ascending) {
  if ((keyA > keyB) == ascending) {
    T t = keyA;
    keyA = keyB;
    keyB = t;
  }
}

template <typename T, unsigned tile>
__global__ void sort_tiles(T* keys) {
  __shared__ T s[tile];
  keys += blockIdx.x * tile;
  s[threadIdx.x] = keys[threadIdx.x];
  s[threadIdx.x + tile / 2] = keys[threadIdx.x + tile / 2];
  for (unsigned size = 2; size <= tile; size <<= 1) {
    const bool ascending = size == tile ? blockIdx.x % 2 == 0 : (threadIdx.x & (size / 2)) == 0;
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      comparator(s[pos], s[pos + stride], ascending);
    }
  }
  __syncthreads();
  keys[threadIdx.x] = s[threadIdx.x];
  keys[threadIdx.x + tile / 2] = s[threadIdx.x + tile / 2];
}

template <typename T>
__global__ void merge_step(T* keys, unsigned size, unsigned stride) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned pos = 2 * i - (i & (stride - 1));
  comparator(keys[pos], keys[pos + stride], (i & (size / 2)) == 0);
}

template <typename T>
bool check(unsigned n) {
  constexpr unsigned tile = 256;
  std::mt19937 random(7);
  std::vector<T> h(n), got(n);
  for (T& x : h) x = (T)(random() % 5000) - (T)1000;
  T* d;
  cudaMalloc(&d, n * sizeof(T));
  cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  sort_tiles<T, tile><<<n / tile, tile / 2>>>(d);
  for (unsigned size = 2 * tile; size <= n; size <<= 1)
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) merge_step<<<n / 256, 128>>>(d, size, stride);
  cudaMemcpy(got.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(d);
  std::sort(h.begin(), h.end());
  return got == h && cudaGetLastError() == cudaSuccess;
}

int main() {
  const bool ok = check<int>(1 << 12) && check<float>(1 << 11) && check<long long>(1 << 10);
  printf("%s\n", ok ? "sorted" : "NOT SORTED");
  return !ok;
}
