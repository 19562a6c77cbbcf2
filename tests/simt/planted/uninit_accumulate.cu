// A kernel adds to an output that nobody has set to zero. cudaMalloc() clears nothing: memory that is read
// before it is written holds anything.
//
// expect: uninitialised_read at A, y[0]
#include <cuda_runtime.h>

__global__ void add_product(const float* a, const float* b, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a[i] * b[i];  // A
}

int main() {
  const int n = 200;
  float *a, *b, *y;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(a, 0, n * sizeof(float));
  cudaMemset(b, 0, n * sizeof(float));
  add_product<<<2, 128>>>(a, b, y, n);
  cudaDeviceSynchronize();
  cudaFree(a);
  cudaFree(b);
  cudaFree(y);
  return 0;
}
