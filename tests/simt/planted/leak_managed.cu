// A managed array and a page-locked one are never freed.
//
// expect: leak at A
// expect: leak at B
#include <cuda_runtime.h>

__global__ void square(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x]; }

int main() {
  float *x, *y, *result;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMallocManaged(&y, 64 * sizeof(float));    // A
  cudaMallocHost(&result, 64 * sizeof(float));  // B
  cudaMemset(x, 0, 64 * sizeof(float));
  square<<<1, 64>>>(x, y);
  cudaMemcpy(result, y, 64 * sizeof(float), cudaMemcpyDefault);
  cudaFree(x);
  return 0;
}
