// Looks wrong: a kernel reads global memory that the same launch writes, without fence or barrier.
// It is right: each thread reads back only what it wrote itself; nobody else touches those elements.

#include <cuda_runtime.h>

__global__ void fibonacci_rows_kernel(int* rows, int columns) {
  int* const row = rows + (blockIdx.x * blockDim.x + threadIdx.x) * columns;
  row[0] = 1;
  row[1] = blockIdx.x + threadIdx.x;
  for (int i = 2; i < columns; ++i) row[i] = row[i - 1] + row[i - 2];
}

int main() {
  constexpr int kRows = 80, kColumns = 11;
  int rows[kRows][kColumns] = {}, *d_rows;
  cudaMalloc(&d_rows, sizeof rows);
  fibonacci_rows_kernel<<<2, 40>>>(d_rows, kColumns);
  cudaMemcpy(rows, d_rows, sizeof rows, cudaMemcpyDeviceToHost);
  cudaFree(d_rows);
  for (int row = 0; row < kRows; ++row) {
    if (rows[row][0] != 1 || rows[row][1] != row / 40 + row % 40) return 1;
    for (int i = 2; i < kColumns; ++i)
      if (rows[row][i] != rows[row][i - 1] + rows[row][i - 2]) return 1;
  }
  return 0;
}
