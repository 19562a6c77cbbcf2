// Looks wrong: warp 0 alone works between two barriers, on sums that other warps wrote.
// It is right: the first barrier comes after those writes, the second before anybody reads what warp 0 made
// of them.

#include <cuda_runtime.h>

__device__ int scan_warp(int value, int lane) {
  for (int delta = 1; delta < 32; delta *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, value, delta);
    if (lane >= delta) value += other;
  }
  return value;
}

__global__ void scan_kernel(const int* in, int* out) {
  __shared__ int warp_sums[32];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, warps = blockDim.x / 32;
  const int value = scan_warp(in[thread], lane);
  if (lane == 31) warp_sums[warp] = value;
  __syncthreads();
  if (warp == 0) {
    const int sum = scan_warp(lane < warps ? warp_sums[lane] : 0, lane);
    warp_sums[lane] = sum;  // each lane reads and writes its own element
  }
  __syncthreads();
  out[thread] = value + (warp > 0 ? warp_sums[warp - 1] : 0);
}

int main() {
  constexpr int kN = 256;
  int in[kN], out[kN] = {}, *d_in, *d_out;
  for (int i = 0; i < kN; ++i) in[i] = i * 3 % 17;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  scan_kernel<<<1, kN>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  int expected = 0;
  for (int i = 0; i < kN; ++i)
    if (out[i] != (expected += in[i])) return 1;
  return 0;
}
