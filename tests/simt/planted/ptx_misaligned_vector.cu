// A vector of two floats is loaded from an odd element.
//
// expect: misaligned at A
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  const unsigned t = threadIdx.x;
  float a, b;
  asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "l"(&x[t]));  // A
  y[t] = a + b;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  kernel<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
