// Looks wrong: how often a thread meets the barrier is read from memory and differs between blocks.
// It is right: all threads of a block read the same count, and no other block's barrier matters to them.

#include <cuda_runtime.h>

__global__ void rotate_rows_kernel(const int* shifts, int* rows) {
  __shared__ int row[48];
  const int thread = threadIdx.x;
  const int shift = shifts[blockIdx.x];
  row[thread] = rows[48 * blockIdx.x + thread];
  __syncthreads();
  for (int i = 0; i < shift; ++i) {
    const int next = row[(thread + 1) % 48];
    __syncthreads();  // all have read
    row[thread] = next;
    __syncthreads();  // all have written
  }
  rows[48 * blockIdx.x + thread] = row[thread];
}

int main() {
  const int shifts[4] = {3, 0, 7, 1};
  int rows[192], *d_shifts, *d_rows;
  for (int i = 0; i < 192; ++i) rows[i] = i;
  cudaMalloc(&d_shifts, sizeof shifts);
  cudaMalloc(&d_rows, sizeof rows);
  cudaMemcpy(d_shifts, shifts, sizeof shifts, cudaMemcpyHostToDevice);
  cudaMemcpy(d_rows, rows, sizeof rows, cudaMemcpyHostToDevice);
  rotate_rows_kernel<<<4, 48>>>(d_shifts, d_rows);
  cudaMemcpy(rows, d_rows, sizeof rows, cudaMemcpyDeviceToHost);
  cudaFree(d_shifts);
  cudaFree(d_rows);
  for (int i = 0; i < 192; ++i)
    if (rows[i] != i / 48 * 48 + (i % 48 + shifts[i / 48]) % 48) return 1;
  return 0;
}
