// The last cp.async of 16 bytes reads past the end of x: src-size does not say how much is left.
//
// expect: out_of_bounds at A, other side B
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  __shared__ alignas(16) float tile[64];
  const unsigned t = threadIdx.x, to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[4 * t]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(&x[4 * t]) : "memory");  // A
  asm volatile("cp.async.wait_all;" ::: "memory");
  y[t] = tile[4 * t];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 62 * sizeof(float));  // B
  cudaMalloc(&y, 16 * sizeof(float));
  cudaMemset(x, 0, 62 * sizeof(float));
  kernel<<<1, 16>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
