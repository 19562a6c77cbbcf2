// A kernel reads its element of a cp.async that it committed and never waited for.
//
// expect: missing_wait at A, other side B
#include <cuda_runtime.h>

__global__ void scale(const float* x, float* y) {
  __shared__ float tile[64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[t]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(&x[i]) : "memory");  // B
  asm volatile("cp.async.commit_group;" ::: "memory");
  y[i] = 3.0f * tile[t];  // A
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 128 * sizeof(float));
  cudaMalloc(&y, 128 * sizeof(float));
  cudaMemset(x, 0, 128 * sizeof(float));
  scale<<<2, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
