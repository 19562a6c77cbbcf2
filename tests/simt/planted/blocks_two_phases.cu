// A launch computes partial sums in all blocks and adds them up in block 0 after __syncthreads().
// __syncthreads() waits for the threads of one block; waiting for all blocks takes a second launch.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void sum_rows(const float* x, float* partial, float* result) {
  float v = x[blockIdx.x * 32 + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  if (threadIdx.x == 0) partial[blockIdx.x] = v;  // A
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    float sum = 0.0f;
    for (int b = 0; b < gridDim.x; ++b) sum += partial[b];  // B
    *result = sum;
  }
}

int main() {
  const int blocks = 4;
  float *x, *partial, *result;
  cudaMalloc(&x, blocks * 32 * sizeof(float));
  cudaMalloc(&partial, blocks * sizeof(float));
  cudaMalloc(&result, sizeof(float));
  cudaMemset(x, 0, blocks * 32 * sizeof(float));
  cudaMemset(partial, 0, blocks * sizeof(float));
  sum_rows<<<blocks, 32>>>(x, partial, result);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(partial);
  cudaFree(result);
  return 0;
}
