// A vector load through PTX reads past the end of x.
//
// expect: out_of_bounds at A, other side B
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  const unsigned t = threadIdx.x;
  float a, b, c, d;
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"  // A
               : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
               : "l"(&x[4 * t]));
  y[t] = a + b + c + d;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 60 * sizeof(float));  // B
  cudaMalloc(&y, 16 * sizeof(float));
  cudaMemset(x, 0, 60 * sizeof(float));
  kernel<<<1, 16>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
