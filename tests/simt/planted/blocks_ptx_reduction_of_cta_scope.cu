// All blocks reduce into one sum, with PTX whose scope is the block: .cta, and it takes .gpu.
//
// expect: race at A, other side A
#include <cuda_runtime.h>

__device__ void add_to(float* sum, float value) {
  asm volatile("red.relaxed.cta.global.add.f32 [%0], %1;" ::"l"(sum), "f"(value) : "memory");  // A
}

__global__ void total(const float* x, int n, float* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) add_to(sum, x[i]);
}

int main() {
  const int n = 96;
  float *x, *sum;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&sum, sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaMemset(sum, 0, sizeof(float));
  total<<<3, 32>>>(x, n, sum);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sum);
  return 0;
}
