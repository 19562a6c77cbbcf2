// A load under a predicate that is false touches nothing, whatever its address is.
//
// The branch is in the PTX alone.
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  const unsigned t = threadIdx.x;
  float value;
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %2, 60; mov.f32 %0, 0f00000000; @p ld.global.f32 %0, [%1]; }"
               : "=f"(value)
               : "l"(&x[t]), "r"(t));
  y[t] = value;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 60 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 60 * sizeof(float));
  kernel<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
