// y is the host's own vector.
// expect: host_pointer_in_kernel at A

#include <cublas_v2.h>

#include <cstdio>
#include <vector>

int main() {
  const int n = 64;
  std::vector<float> y(n, 1.0f);
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float alpha = 2;
  cublasSaxpy(handle, n, &alpha, x, 1, y.data(), 1);  // A
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cublasDestroy(handle);
  cudaFree(x);
}
