// A vectorised kernel rounds the number of float4 up and reads and writes beyond the last of 1002 floats. A
// vector access needs all its elements inside the array; the last n % 4 elements are handled one by one.
//
// expect: out_of_bounds at A
// expect: out_of_bounds at B
#include <cuda_runtime.h>

__global__ void negate(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (n + 3) / 4) {
    const float4 v = reinterpret_cast<const float4*>(x)[i];                 // A
    reinterpret_cast<float4*>(y)[i] = make_float4(-v.x, -v.y, -v.z, -v.w);  // B
  }
}

int main() {
  const int n = 1002;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  negate<<<2, 128>>>(x, y, n);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
