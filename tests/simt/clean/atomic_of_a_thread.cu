// Looks wrong: atomic operations on variables of a thread's own, which a GPU does not have.
// It is right: cuda::atomic and cuda::atomic_ref ask where their object lies, and make an ordinary operation
// of it. A helper that takes an atomic_ref serves for such a variable as well.

#include <cuda/atomic>

template <class Ref>
__device__ void add_up(Ref sum, const int* values, int n) {
  for (int i = 0; i < n; ++i) sum.fetch_add(values[i], cuda::memory_order_relaxed);
}

__global__ void sum_rows(const int* values, int* sums, int* total, int cols) {
  const int* const row = values + threadIdx.x * cols;
  int sum = 0;
  add_up(cuda::atomic_ref<int, cuda::thread_scope_block>(sum), row, cols);
  cuda::atomic<int, cuda::thread_scope_thread> rounds(0);
  while (rounds.load() < 3) ++rounds;
  int expected = sum;
  cuda::atomic_ref<int> whole(sum);
  whole.compare_exchange_strong(expected, sum + rounds.exchange(0));
  sums[threadIdx.x] = whole;
  add_up(cuda::atomic_ref<int, cuda::thread_scope_device>(*total), row, cols);
}

int main() {
  const int rows = 64, cols = 8;
  int host[rows * cols], got[rows], all = 0, *values, *sums, *total;
  for (int i = 0; i < rows * cols; ++i) host[i] = i % 7;
  cudaMalloc(&values, sizeof host);
  cudaMalloc(&sums, sizeof got);
  cudaMalloc(&total, sizeof(int));
  cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(total, 0, sizeof(int));
  sum_rows<<<1, rows>>>(values, sums, total, cols);
  cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost);
  cudaMemcpy(&all, total, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(values);
  cudaFree(sums);
  cudaFree(total);
  for (int row = 0; row < rows; ++row) {
    int sum = 3;
    for (int col = 0; col < cols; ++col) sum += host[row * cols + col];
    all -= sum - 3;
    if (got[row] != sum) return 1;
  }
  return all;
}
