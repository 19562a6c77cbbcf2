// Looks wrong: the atomics are for the threads of their own block alone, and several blocks run.
// It is right: each block counts in shared memory, or in an element of its own, and one atomic of device
// scope brings the counts together.

#include <cuda_runtime.h>
#include <cuda/atomic>

__global__ void count_kernel(const int* x, int n, int* of_block, int* all) {
  __shared__ int even;
  if (threadIdx.x == 0) even = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] % 2 == 0) atomicAdd_block(&even, 1);
  if (i < n && x[i] % 2 == 0) atomicAdd_block(&of_block[blockIdx.x], 1);
  cuda::atomic_ref<int, cuda::thread_scope_block> mine(of_block[blockIdx.x]);
  if (i < n && x[i] % 2 == 0) mine.fetch_add(1, cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(all, even + mine.load());
}

int main() {
  const int blocks = 3, n = 32 * blocks;
  int x[n], *d_x, *of_block, *all, out = 0;
  for (int i = 0; i < n; ++i) x[i] = i;
  cudaMalloc(&d_x, sizeof x);
  cudaMalloc(&of_block, blocks * sizeof(int));
  cudaMalloc(&all, sizeof(int));
  cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
  cudaMemset(of_block, 0, blocks * sizeof(int));
  cudaMemset(all, 0, sizeof(int));
  count_kernel<<<blocks, 32>>>(d_x, n, of_block, all);
  count_kernel<<<blocks, 32>>>(d_x, n, of_block, all);
  cudaMemcpy(&out, all, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  cudaFree(of_block);
  cudaFree(all);
  return out == n / 2 * 3 + n / 2 * 5 ? 0 : 1;
}
