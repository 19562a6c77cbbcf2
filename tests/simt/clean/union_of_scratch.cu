// Looks wrong: two members of a union in shared memory are written by different threads.
// It is right: the uses follow each other with a barrier between, and no member is read before it was
// written.

#include <cuda_runtime.h>

union Scratch {
  int counts[32];
  short order[64];
};

__global__ void counting_sort_kernel(const int* keys, short* sorted) {  // keys in [0, 32), 64 of them
  __shared__ Scratch scratch;
  const int thread = threadIdx.x, key = keys[thread];
  if (thread < 32) scratch.counts[thread] = 0;
  __syncthreads();
  atomicAdd(&scratch.counts[key], 1);
  __syncthreads();
  int position = 0;
  for (int smaller = 0; smaller < key; ++smaller) position += scratch.counts[smaller];
  for (int earlier = 0; earlier < thread; ++earlier) position += keys[earlier] == key;
  __syncthreads();  // nobody reads the counts any more
  scratch.order[position] = thread;
  __syncthreads();
  sorted[thread] = scratch.order[thread];
}

int main() {
  int keys[64], *d_keys;
  short sorted[64] = {}, *d_sorted;
  for (int i = 0; i < 64; ++i) keys[i] = i * 7 % 32;
  cudaMalloc(&d_keys, sizeof keys);
  cudaMalloc(&d_sorted, sizeof sorted);
  cudaMemcpy(d_keys, keys, sizeof keys, cudaMemcpyHostToDevice);
  counting_sort_kernel<<<1, 64>>>(d_keys, d_sorted);
  cudaMemcpy(sorted, d_sorted, sizeof sorted, cudaMemcpyDeviceToHost);
  cudaFree(d_keys);
  cudaFree(d_sorted);
  for (int i = 1; i < 64; ++i) {
    const int before = sorted[i - 1], after = sorted[i];
    if (keys[before] > keys[after] || (keys[before] == keys[after] && before >= after)) return 1;
  }
  return 0;
}
