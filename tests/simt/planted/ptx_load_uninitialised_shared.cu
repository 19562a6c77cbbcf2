// ld.shared reads an element that no thread has written.
//
// expect: uninitialised_read at A
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x, at = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + 4 * t;
  if (t < 63) tile[t] = x[t];
  float value;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(at) : "memory");  // A
  y[t] = value;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  kernel<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
