// Looks wrong: after the last block barrier all warps but one return, and the rest works in shared memory
// with __syncwarp() alone. It is right: no barrier follows that the others would have to reach, and the
// elements are those of one warp.

#include <cuda_runtime.h>

__global__ void sum_kernel(const int* in, int* sums) {
  __shared__ volatile int values[256];
  const int thread = threadIdx.x;
  values[thread] = in[blockIdx.x * 256 + thread];
  __syncthreads();
  for (int step = 128; step >= 64; step /= 2) {
    if (thread < step) values[thread] = values[thread] + values[thread + step];
    __syncthreads();
  }
  if (thread >= 32) return;
  int sum = values[thread] + values[thread + 32];
  for (int step = 16; step > 0; step /= 2) {
    __syncwarp();  // all have read what is now overwritten
    values[thread] = sum;
    __syncwarp();  // all have written what is now read
    sum += values[thread ^ step];
  }
  if (thread == 0) sums[blockIdx.x] = sum;
}

int main() {
  int in[768], sums[3] = {}, *d_in, *d_sums;
  for (int i = 0; i < 768; ++i) in[i] = i % 59 - 20;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_sums, sizeof sums);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  sum_kernel<<<3, 256>>>(d_in, d_sums);
  cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_sums);
  for (int block = 0; block < 3; ++block) {
    int expected = 0;
    for (int i = 0; i < 256; ++i) expected += in[block * 256 + i];
    if (sums[block] != expected) return 1;
  }
  return 0;
}
