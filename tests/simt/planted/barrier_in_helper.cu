// The first warp calls a helper with a barrier in it, while the second calls the same helper behind the
// branch. It is one line of source, but not one barrier.
//
// expect: divergent_barrier at A, other side A
#include <cuda_runtime.h>

__device__ __forceinline__ void put(float* values, float x) {
  __syncthreads();  // A
  values[threadIdx.x] = x;
}

__global__ void fill(float* y) {
  __shared__ float values[64];
  if (threadIdx.x < 32) put(values, 1.0f);
  put(values, 2.0f);
  y[threadIdx.x] = values[threadIdx.x];
}

int main() {
  float* y;
  cudaMalloc(&y, 64 * sizeof(float));
  fill<<<1, 64>>>(y);
  cudaDeviceSynchronize();
  cudaFree(y);
  return 0;
}
