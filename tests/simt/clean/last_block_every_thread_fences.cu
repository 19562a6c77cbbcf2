// Looks wrong: thread 0 draws the ticket for values that the other threads of its block wrote.
// It is right: each thread fences its own write, and the barrier puts all of them before the ticket.

#include <cuda_runtime.h>

__global__ void column_sums_kernel(const int* in, int* partial, int* sums, unsigned* finished) {
  __shared__ bool last;
  const int column = threadIdx.x, columns = blockDim.x;
  int sum = 0;
  for (int row = 0; row < 5; ++row) sum += in[(blockIdx.x * 5 + row) * columns + column];
  partial[blockIdx.x * columns + column] = sum;
  __threadfence();
  __syncthreads();
  if (column == 0) last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;  // wraps to 0 by itself
  __syncthreads();
  if (last) {
    __threadfence();
    sum = 0;
    for (int block = gridDim.x - 1; block >= 0; --block) sum += partial[block * columns + column];
    sums[column] = sum;
  }
}

int main() {
  constexpr int kBlocks = 6, kColumns = 96, kN = kBlocks * 5 * kColumns;
  static int in[kN];
  int sums[kColumns] = {}, *d_in, *d_partial, *d_sums;
  unsigned* d_finished;
  for (int i = 0; i < kN; ++i) in[i] = i % 41;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_partial, kBlocks * kColumns * sizeof(int));
  cudaMalloc(&d_sums, sizeof sums);
  cudaMalloc(&d_finished, sizeof(unsigned));
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemset(d_finished, 0, sizeof(unsigned));
  column_sums_kernel<<<kBlocks, kColumns>>>(d_in, d_partial, d_sums, d_finished);
  column_sums_kernel<<<kBlocks, kColumns>>>(d_in, d_partial, d_sums, d_finished);
  cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_partial);
  cudaFree(d_sums);
  cudaFree(d_finished);
  for (int column = 0; column < kColumns; ++column) {
    int expected = 0;
    for (int row = 0; row < kBlocks * 5; ++row) expected += in[row * kColumns + column];
    if (sums[column] != expected) return 1;
  }
  return 0;
}
