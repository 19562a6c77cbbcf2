// The kernel gets the address of an array on the stack of main(). The stack belongs to the host; small
// inputs travel as parameters by value or through cudaMemcpy().
//
// expect: host_pointer_in_kernel at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void apply_weights(const float* weights, float* x) {
  x[threadIdx.x] *= weights[threadIdx.x % 4];  // A
}

int main() {
  float* x;
  const float weights[4] = {0.1f, 0.2f, 0.3f, 0.4f};
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMemset(x, 0, 32 * sizeof(float));
  apply_weights<<<1, 32>>>(weights, x);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(x);
  return 0;
}
