// Sums in shared memory, four floats at a time. A GPU adds a float4 atomically in global memory alone.
//
// expect: illegal_address at A
#include <cuda_runtime.h>

__global__ void kernel(float* y) {
  __shared__ float4 sum;
  if (threadIdx.x == 0) sum = make_float4(0, 0, 0, 0);
  __syncthreads();
  atomicAdd(&sum, make_float4(1, 2, 3, 4));  // A
  __syncthreads();
  if (threadIdx.x == 0) y[0] = sum.x;
}

int main() {
  float* y;
  cudaMalloc(&y, sizeof(float));
  kernel<<<1, 32>>>(y);
  cudaDeviceSynchronize();
  cudaFree(y);
}
