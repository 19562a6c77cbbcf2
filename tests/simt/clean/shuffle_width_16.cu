// Looks wrong: lane 15 asks for lane 16 and lane 31 for lane 32.
// It is right: with width 16 a lane that looks past its segment gets its own value, and only lane 0 of a
// segment is used.

#include <cuda_runtime.h>

__global__ void reduce_segments_kernel(const int* in, int* sums) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int value = in[thread];
  for (int delta = 8; delta > 0; delta /= 2) value += __shfl_down_sync(0xffffffffu, value, delta, 16);
  if (thread % 16 == 0) sums[thread / 16] = value;
}

int main() {
  int in[128], sums[8] = {}, *d_in, *d_sums;
  for (int i = 0; i < 128; ++i) in[i] = i * i % 101;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_sums, sizeof sums);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  reduce_segments_kernel<<<2, 64>>>(d_in, d_sums);
  cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_sums);
  for (int segment = 0; segment < 8; ++segment) {
    int expected = 0;
    for (int i = 0; i < 16; ++i) expected += in[16 * segment + i];
    if (sums[segment] != expected) return 1;
  }
  return 0;
}
