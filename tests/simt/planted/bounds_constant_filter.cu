// A convolution reads its five constant coefficients with an offset of three instead of two. A __constant__
// array of five elements ends with element 4.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

__constant__ float coefficients[5];

__global__ void blur(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = -2; k <= 2; ++k) {
    const int j = min(max(i + k, 0), n - 1);
    sum += x[j] * coefficients[k + 3];  // A
  }
  y[i] = sum;
}

int main() {
  const int n = 100;
  const float weights[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
  float *x, *y;
  cudaMemcpyToSymbol(coefficients, weights, sizeof weights);
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  blur<<<1, 128>>>(x, y, n);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
