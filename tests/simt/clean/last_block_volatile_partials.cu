// Looks wrong: the last block reads other blocks' sums, and there is no fence between its ticket and those
// reads. It is right: the sums are read and written through a volatile pointer, the form in CUDA's
// programming guide.

#include <cuda_runtime.h>

__device__ unsigned tickets = 0;

__global__ void dot_kernel(const int* a, const int* b, volatile int* partial, int* result) {
  __shared__ int block_sum;
  __shared__ bool last;
  if (threadIdx.x == 0) block_sum = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&block_sum, a[i] * b[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = block_sum;
    __threadfence();
    last = atomicInc(&tickets, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) sum += partial[block];
    *result = sum;
  }
}

int main() {
  constexpr int kBlocks = 5, kThreads = 64, kN = kBlocks * kThreads;
  int a[kN], b[kN], result = 0, expected = 0, *d_a, *d_b, *d_partial, *d_result;
  for (int i = 0; i < kN; ++i) {
    a[i] = i % 13 - 6;
    b[i] = i % 7;
    expected += a[i] * b[i];
  }
  cudaMalloc(&d_a, sizeof a);
  cudaMalloc(&d_b, sizeof b);
  cudaMalloc(&d_partial, kBlocks * sizeof(int));
  cudaMalloc(&d_result, sizeof(int));
  cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b, sizeof b, cudaMemcpyHostToDevice);
  dot_kernel<<<kBlocks, kThreads>>>(d_a, d_b, d_partial, d_result);
  cudaMemcpy(&result, d_result, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_partial);
  cudaFree(d_result);
  return result == expected ? 0 : 1;
}
