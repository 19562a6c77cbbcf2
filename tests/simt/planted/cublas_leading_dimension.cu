// The rows of A are padded to 40, and its memory is not: the last column ends past the allocation.
// expect: out_of_bounds at A

#include <cublas_v2.h>

#include <cstdio>

int main() {
  const int n = 32, lda = 40;
  float *a, *b, *c;
  cudaMalloc(&a, n * n * sizeof(float));
  cudaMalloc(&b, n * n * sizeof(float));
  cudaMalloc(&c, n * n * sizeof(float));
  cudaMemset(a, 0, n * n * sizeof(float));
  cudaMemset(b, 0, n * n * sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float alpha = 1, beta = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, a, lda, b, n, &beta, c, n);  // A
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cublasDestroy(handle);
  cudaFree(a), cudaFree(b), cudaFree(c);
}
