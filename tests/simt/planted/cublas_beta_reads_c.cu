// beta is 1, so C is read, and nothing has written it.
// expect: uninitialised_read at A, C(0,0)

#include <cublas_v2.h>

#include <cstdio>
#include <vector>

int main() {
  const int m = 8, n = 4, k = 16;
  std::vector<float> ones(m * k, 1.0f);
  float *a, *b, *c;
  cudaMalloc(&a, m * k * sizeof(float));
  cudaMalloc(&b, k * n * sizeof(float));
  cudaMalloc(&c, m * n * sizeof(float));
  cudaMemcpy(a, ones.data(), m * k * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, ones.data(), k * n * sizeof(float), cudaMemcpyHostToDevice);
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float alpha = 1, beta = 1;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a, m, b, k, &beta, c, m);  // A
  std::vector<float> got(m * n);
  cudaMemcpy(got.data(), c, m * n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", got[0]);
  cublasDestroy(handle);
  cudaFree(a), cudaFree(b), cudaFree(c);
}
