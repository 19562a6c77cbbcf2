// Looks like uninitialised reads and accesses out of bounds: rows of padding that nobody writes, a C that
// beta = 0 makes an output alone, a last column without its padding, a kernel that reads what cuBLAS wrote.

#include <cublas_v2.h>

#include <cstdio>

__global__ void fill(float* a, int rows, int leading) {
  const int row = threadIdx.x, col = blockIdx.x;
  if (row < rows) a[col * leading + row] = (float)(row + col);
}

__global__ void sum_columns(const float* c, float* sums, int rows, int leading) {
  float sum = 0;
  for (int row = 0; row < rows; ++row) sum += c[threadIdx.x * leading + row];
  sums[threadIdx.x] = sum;
}

int main() {
  const int m = 30, n = 8, k = 12, ld = 32;
  float *a, *b, *c, *sums;
  cudaMalloc(&a, ((k - 1) * ld + m) * sizeof(float));
  cudaMalloc(&b, ((n - 1) * ld + k) * sizeof(float));
  cudaMalloc(&c, ((n - 1) * ld + m) * sizeof(float));
  cudaMalloc(&sums, n * sizeof(float));
  fill<<<k, 32>>>(a, m, ld);
  fill<<<n, 32>>>(b, k, ld);
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float alpha = 1, beta = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a, ld, b, ld, &beta, c, ld);
  sum_columns<<<1, n>>>(c, sums, m, ld);
  float total = 0;
  cublasSasum(handle, n, sums, 1, &total);
  std::printf("%g\n", total);
  cublasDestroy(handle);
  cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(sums);
  return cudaGetLastError();
}
