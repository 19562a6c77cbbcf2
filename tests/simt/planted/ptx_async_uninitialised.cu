// cp.async reads an array that nobody has written.
//
// expect: uninitialised_read at A
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x, to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[t]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(&x[t]) : "memory");  // A
  asm volatile("cp.async.wait_all;" ::: "memory");
  y[t] = tile[t];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  kernel<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
