// Looks wrong: the last block reads what other blocks of the same launch wrote, and one thread alone uses a
// fence. It is right: that thread wrote the partial sum itself, fences on both sides of its atomic, and the
// barrier passes the order on to its block.

#include <cuda_runtime.h>

__device__ unsigned finished = 0;

__global__ void sum_kernel(const int* in, int* partial, int* total) {
  __shared__ int values[64];
  __shared__ bool last;
  const int thread = threadIdx.x;
  values[thread] = in[blockIdx.x * 64 + thread];
  __syncthreads();
  if (thread == 0) {
    int sum = 0;
    for (int i = 0; i < 64; ++i) sum += values[i];
    partial[blockIdx.x] = sum;
    __threadfence();  // release: the partial sum comes before the ticket
    last = atomicAdd(&finished, 1) == gridDim.x - 1;
    __threadfence();  // acquire: the ticket comes before the partial sums of others
  }
  __syncthreads();
  if (!last) return;
  values[thread] = thread < gridDim.x ? partial[thread] : 0;
  __syncthreads();
  if (thread == 0) {
    int sum = 0;
    for (int i = 0; i < 64; ++i) sum += values[i];
    *total = sum;
    finished = 0;  // for the next launch; every block has drawn its ticket
  }
}

int main() {
  constexpr int kBlocks = 7, kN = 64 * kBlocks;
  int in[kN], total = 0, expected = 0, *d_in, *d_partial, *d_total;
  for (int i = 0; i < kN; ++i) expected += in[i] = i % 23;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_partial, kBlocks * sizeof(int));
  cudaMalloc(&d_total, sizeof(int));
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  bool right = true;
  for (int launch = 0; launch < 2; ++launch) {
    sum_kernel<<<kBlocks, 64>>>(d_in, d_partial, d_total);
    cudaMemcpy(&total, d_total, sizeof total, cudaMemcpyDeviceToHost);
    right = right && total == expected;
  }
  cudaFree(d_in);
  cudaFree(d_partial);
  cudaFree(d_total);
  return right ? 0 : 1;
}
