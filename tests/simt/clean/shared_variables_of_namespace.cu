// Looks wrong: no kernel declares the shared memory that two of them use.
// It is right: __shared__ variables may stand outside of functions, and each block has its own.

#include <cuda_runtime.h>

constexpr int kThreads = 64;
__shared__ int tile[kThreads];
static __shared__ int block_total;
__shared__ long long first_of_block;
extern __shared__ int doubled[];
namespace scratch {
__shared__ float weights[kThreads / 2];
}

__global__ void reverse_kernel(int* x) {
  if (threadIdx.x == 0) first_of_block = static_cast<long long>(blockIdx.x) * kThreads;
  __syncthreads();
  tile[threadIdx.x] = x[first_of_block + threadIdx.x];
  doubled[threadIdx.x] = 2 * tile[threadIdx.x];
  __syncthreads();
  x[first_of_block + threadIdx.x] = doubled[kThreads - 1 - threadIdx.x] / 2;
}
__global__ void weigh_kernel(const int* x, int* totals) {
  if (threadIdx.x == 0) block_total = 0;
  if (threadIdx.x < kThreads / 2) scratch::weights[threadIdx.x] = 0.5f * threadIdx.x;
  __syncthreads();
  atomicAdd(&block_total,
            static_cast<int>(scratch::weights[threadIdx.x / 2] * x[blockIdx.x * kThreads + threadIdx.x]));
  __syncthreads();
  if (threadIdx.x == 0) totals[blockIdx.x] = block_total;
}

int main() {
  constexpr int kBlocks = 3;
  int x[kBlocks * kThreads], totals[kBlocks] = {}, *d_x, *d_totals;
  for (int i = 0; i < kBlocks * kThreads; ++i) x[i] = 2 * i;
  cudaMalloc(&d_x, sizeof x);
  cudaMalloc(&d_totals, sizeof totals);
  cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
  reverse_kernel<<<kBlocks, kThreads, kThreads * sizeof(int)>>>(d_x);
  weigh_kernel<<<kBlocks, kThreads>>>(d_x, d_totals);
  cudaMemcpy(totals, d_totals, sizeof totals, cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  cudaFree(d_totals);
  for (int block = 0; block < kBlocks; ++block) {
    int wanted = 0;
    for (int i = 0; i < kThreads; ++i)
      wanted += static_cast<int>(0.5f * (i / 2) * (2 * (block * kThreads + kThreads - 1 - i)));
    if (totals[block] != wanted) return 1;
  }
  return 0;
}
