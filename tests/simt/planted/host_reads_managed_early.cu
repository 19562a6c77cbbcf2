// The host sums what the kernel writes, and has not waited for it.
// expect: race at B, other side A, y[0]

#include <cstdio>

__global__ void square(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];  // A
}

int main() {
  const int n = 100;
  float *x, *y;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  for (int i = 0; i < n; ++i) x[i] = i;
  square<<<1, 128>>>(x, y, n);
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += y[i];  // B
  std::printf("%g\n", sum);
  cudaDeviceSynchronize();
  cudaFree(x), cudaFree(y);
}
