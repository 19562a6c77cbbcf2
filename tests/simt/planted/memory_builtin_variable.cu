// A kernel stores to gridDim, by a cast: what it leaves there would reach the other threads of its block
// uncounted.
//
// expect: illegal_address at A
#include <cuda_runtime.h>

__global__ void leave_kernel(unsigned value) {
  const_cast<dim3&>(gridDim).x = value;  // A
}

int main() {
  leave_kernel<<<1, 2>>>(7);
  cudaDeviceSynchronize();
}
