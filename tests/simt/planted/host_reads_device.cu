// main() prints an element through the device pointer. Host code cannot follow a pointer from cudaMalloc():
// copy the result back first.
//
// expect: device_pointer_on_host at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void fill(float* x) { x[threadIdx.x] = 0.5f * threadIdx.x; }

int main() {
  float* x;
  cudaMalloc(&x, 32 * sizeof(float));
  fill<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  std::printf("%f\n", x[3]);  // A
  cudaFree(x);
  return 0;
}
