// Looks wrong: every thread of a block reads a row that the previous block wrote, but only thread 0 waits for
// it. It is right: thread 0 acquires the flag, the barrier hands that on, and on the way out the barrier
// comes before the release.

#include <cuda_runtime.h>

constexpr int kColumns = 64;

__global__ void running_rows_kernel(const int* in, int* out, unsigned* ready, unsigned* next_ticket) {
  __shared__ unsigned row;
  const int column = threadIdx.x;
  if (column == 0) {
    row = atomicAdd(next_ticket, 1u);
    if (row > 0)
      while (atomicAdd(&ready[row - 1], 0u) == 0) {
      }
    __threadfence();
  }
  __syncthreads();
  int sum = in[row * kColumns + column];
  if (row > 0) sum += out[(row - 1) * kColumns + (column + 1) % kColumns];
  out[row * kColumns + column] = sum;
  __threadfence();
  __syncthreads();
  if (column == 0) atomicExch(&ready[row], 1u);
}

int main() {
  constexpr int kRows = 6, kN = kRows * kColumns;
  int in[kN], out[kN] = {}, *d_in, *d_out;
  unsigned *d_ready, *d_ticket;
  for (int i = 0; i < kN; ++i) in[i] = i % 29;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMalloc(&d_ready, kRows * sizeof(unsigned));
  cudaMalloc(&d_ticket, sizeof(unsigned));
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemset(d_ready, 0, kRows * sizeof(unsigned));
  cudaMemset(d_ticket, 0, sizeof(unsigned));
  running_rows_kernel<<<kRows, kColumns>>>(d_in, d_out, d_ready, d_ticket);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  cudaFree(d_ready);
  cudaFree(d_ticket);
  for (int i = 0; i < kN; ++i) {
    const int row = i / kColumns, column = i % kColumns;
    const int above = row > 0 ? out[(row - 1) * kColumns + (column + 1) % kColumns] : 0;
    if (out[i] != in[i] + above) return 1;
  }
  return 0;
}
