// printf in a kernel, with conversions of all kinds.

#include <stdio.h>

__device__ const char* parity(int i) { return i % 2 ? "odd" : "even"; }

__global__ void testKernel(int val) {
  printf("[%d, %d]:\t\tValue is:%d\n", blockIdx.y * gridDim.x + blockIdx.x,
         threadIdx.z * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x, val);
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0)
    printf("%s %5.2f %e %c %#x %lld %%\n", parity(blockIdx.x), 3.14159, 1e10f, 'q', 255u, 1LL << 40);
}

int main(int argc, char** argv) {
  dim3 dimGrid(2, 2);
  dim3 dimBlock(2, 2, 2);
  testKernel<<<dimGrid, dimBlock>>>(10);
  cudaDeviceSynchronize();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
