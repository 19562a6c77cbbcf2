// A failing assert in a kernel: the launch ends, and the next synchronising call says so.

#include <assert.h>
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void testKernel(int N) {
  int gtid = blockIdx.x * blockDim.x + threadIdx.x;
  assert(gtid < N);
}

int main() {
  testKernel<<<2, 32>>>(60);
  cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaErrorAssert) {
    printf("Device assert failed as expected, CUDA error message is: %s\n", cudaGetErrorString(error));
    return 0;
  }
  printf("expected an assertion, got %s\n", cudaGetErrorName(error));
  return 1;
}
