// The kernel fills the first half of x; the norm is of all of it.
// expect: uninitialised_read at A, x[128]

#include <cublas_v2.h>

#include <cstdio>

__global__ void fill(float* x) { x[threadIdx.x] = 1.0f; }

int main() {
  const int n = 256;
  float *x, norm = 0;
  cudaMalloc(&x, n * sizeof(float));
  fill<<<1, n / 2>>>(x);
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSnrm2(handle, n, x, 1, &norm);  // A
  std::printf("%g\n", norm);
  cublasDestroy(handle);
  cudaFree(x);
}
