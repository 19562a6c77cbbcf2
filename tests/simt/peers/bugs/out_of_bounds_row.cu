// A column index past the end of its row lands in the next row of the same array.

#include <cuda_runtime.h>

#include <vector>

__global__ void next_column_kernel(const float* x, float* y, int n) {
  __shared__ float tile[8][8];
  const int row = threadIdx.x / 8, col = threadIdx.x % 8;
  tile[row][col] = x[8 * row + col];
  __syncthreads();
  if (row < 7) y[8 * row + col] = tile[row][col + 1];  // bug: column 8 is column 0 of the next row
}

int main() {
  const int n = 64;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  next_column_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
