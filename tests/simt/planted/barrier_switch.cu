// Two roles of warps have a __syncthreads() each in the cases of a switch. Warps with different roles may
// meet only at one and the same __syncthreads(), placed behind the switch.
//
// expect: divergent_barrier at A, other side B
#include <cuda_runtime.h>

__global__ void roles(const float* x, float* y) {
  __shared__ float scale, tile[32];
  const int lane = threadIdx.x % 32;
  switch (threadIdx.x / 32) {
    case 0:
      if (lane == 0) scale = x[0];
      __syncthreads();  // A
      break;
    default:
      tile[lane] = x[lane];
      __syncthreads();  // B
  }
  y[threadIdx.x] = scale + tile[31 - lane];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 32 * sizeof(float));
  roles<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
