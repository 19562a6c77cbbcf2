// Looks wrong: lanes add up shared memory that other lanes wrote, and no block barrier is in sight.
// It is right: only lanes of one warp share an element, and a __syncwarp() lies between any write and its
// reader.

#include <cuda_runtime.h>

__global__ void reduce_warps_kernel(const int* in, int* sums) {
  __shared__ int values[128];
  const int thread = threadIdx.x, lane = thread % 32;
  values[thread] = in[blockIdx.x * blockDim.x + thread];
  __syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    if (lane < step) values[thread] += values[thread + step];  // reads [step, 2 step), writes [0, step)
    __syncwarp();
  }
  if (lane == 0) sums[(blockIdx.x * blockDim.x + thread) / 32] = values[thread];
}

int main() {
  int in[256], sums[8] = {}, *d_in, *d_sums;
  for (int i = 0; i < 256; ++i) in[i] = 7 * i % 31;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_sums, sizeof sums);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  reduce_warps_kernel<<<2, 128>>>(d_in, d_sums);
  cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_sums);
  for (int warp = 0; warp < 8; ++warp) {
    int expected = 0;
    for (int lane = 0; lane < 32; ++lane) expected += in[32 * warp + lane];
    if (sums[warp] != expected) return 1;
  }
  return 0;
}
