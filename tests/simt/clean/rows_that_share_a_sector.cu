// Looks wrong: blocks write rows of 5 bytes, so several blocks write into the same word at the same time.
// It is right: no byte belongs to two blocks, and no block reads another block's row.

#include <cuda_runtime.h>

__global__ void fill_rows_kernel(unsigned char* rows, int columns) {
  unsigned char* const row = rows + blockIdx.x * columns;
  for (int column = threadIdx.x; column < columns; column += blockDim.x)
    row[column] = 10 * blockIdx.x + column;
}

int main() {
  unsigned char rows[12][5] = {}, *d_rows;
  cudaMalloc(&d_rows, sizeof rows);
  fill_rows_kernel<<<12, 3>>>(d_rows, 5);
  cudaMemcpy(rows, d_rows, sizeof rows, cudaMemcpyDeviceToHost);
  cudaFree(d_rows);
  for (int i = 0; i < 60; ++i)
    if (rows[i / 5][i % 5] != 10 * (i / 5) + i % 5) return 1;
  return 0;
}
