// A host matrix of 20 columns is copied into rows of 24 floats, and the kernel sums whole rows of 24.
// cudaMemcpy2D() leaves the padding of the rows as it was.
//
// expect: uninitialised_read at A, m[20]
#include <cuda_runtime.h>

__global__ void sum_rows(const float* m, float* sums, int stride) {
  const int row = threadIdx.x;
  float sum = 0.0f;
  for (int col = 0; col < stride; ++col) sum += m[row * stride + col];  // A
  sums[row] = sum;
}

int main() {
  const int rows = 8, cols = 20, stride = 24;
  float values[rows * cols] = {}, *m, *sums;
  cudaMalloc(&m, rows * stride * sizeof(float));
  cudaMalloc(&sums, rows * sizeof(float));
  cudaMemcpy2D(m, stride * sizeof(float), values, cols * sizeof(float), cols * sizeof(float), rows,
               cudaMemcpyHostToDevice);
  sum_rows<<<1, rows>>>(m, sums, stride);
  cudaDeviceSynchronize();
  cudaFree(m);
  cudaFree(sums);
  return 0;
}
