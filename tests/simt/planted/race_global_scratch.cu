// The threads of a block exchange values through global memory without a barrier. __syncthreads() orders
// global memory within a block as it orders shared memory; without it nothing does.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void mirror_blocks(const float* x, float* scratch, float* y) {
  const int t = threadIdx.x, first = blockIdx.x * 64;
  scratch[first + t] = 2.0f * x[first + t];       // A
  y[first + t] = 0.5f * scratch[first + 63 - t];  // B
}

int main() {
  float *x, *scratch, *y;
  cudaMalloc(&x, 128 * sizeof(float));
  cudaMalloc(&scratch, 128 * sizeof(float));
  cudaMalloc(&y, 128 * sizeof(float));
  cudaMemset(x, 0, 128 * sizeof(float));
  cudaMemset(scratch, 0, 128 * sizeof(float));
  mirror_blocks<<<2, 64>>>(x, scratch, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(scratch);
  cudaFree(y);
  return 0;
}
