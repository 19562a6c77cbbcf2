// A sparse matrix-vector product treats the row ends of a CSR matrix as part of the row. Row r owns the
// entries row_start[r] <= k < row_start[r + 1]; the last row's k = row_start[rows] is no entry.
//
// expect: out_of_bounds at A, columns[7]
// expect: out_of_bounds at B, values[7]
#include <cuda_runtime.h>

__global__ void multiply(const int* row_start, const int* columns, const float* values, const float* x,
                         float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = row_start[row]; k <= row_start[row + 1]; ++k) {
    const int column = columns[k];  // A
    const float value = values[k];  // B
    sum += value * (column >= 0 && column < 4 ? x[column] : 0.0f);
  }
  y[row] = sum;
}

int main() {
  const int starts[5] = {0, 2, 3, 5, 7}, cols[7] = {0, 1, 1, 0, 2, 1, 3};
  int *row_start, *columns;
  float *values, *x, *y;
  cudaMalloc(&row_start, sizeof starts);
  cudaMalloc(&columns, sizeof cols);
  cudaMalloc(&values, 7 * sizeof(float));
  cudaMalloc(&x, 4 * sizeof(float));
  cudaMalloc(&y, 4 * sizeof(float));
  cudaMemcpy(row_start, starts, sizeof starts, cudaMemcpyHostToDevice);
  cudaMemcpy(columns, cols, sizeof cols, cudaMemcpyHostToDevice);
  cudaMemset(values, 0, 7 * sizeof(float));
  cudaMemset(x, 0, 4 * sizeof(float));
  multiply<<<1, 32>>>(row_start, columns, values, x, y, 4);
  cudaDeviceSynchronize();
  cudaFree(row_start);
  cudaFree(columns);
  cudaFree(values);
  cudaFree(x);
  cudaFree(y);
  return 0;
}
