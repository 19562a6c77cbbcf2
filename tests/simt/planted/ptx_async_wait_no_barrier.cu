// Each thread waits for its own cp.async and then reads what another thread copied, without a barrier.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x, to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[t]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(&x[t]) : "memory");  // B
  asm volatile("cp.async.wait_all;" ::: "memory");
  y[t] = tile[63 - t];  // A
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
