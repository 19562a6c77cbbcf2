// The last block adds up the partial sums of all blocks, which were stored without a fence before the ticket
// was drawn. atomicInc() tells who is last; only __threadfence() before it makes the stores visible to the
// last.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__device__ unsigned tickets = 0;

__global__ void sum_all(const float* x, float* partial, float* result) {
  __shared__ bool last;
  float v = x[blockIdx.x * 32 + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = v;  // A
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
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
  sum_all<<<blocks, 32>>>(x, partial, result);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(partial);
  cudaFree(result);
  return 0;
}
