// Looks wrong: the two halves of a warp meet at two different __syncwarp() calls, each without the other
// half. It is right: a half only reads what the same half wrote, and its mask names exactly those lanes.

#include <cuda_runtime.h>

__global__ void halves_kernel(int* out) {
  __shared__ int low[16], high[16];
  const int lane = threadIdx.x;
  if (lane < 16) {
    low[lane] = lane;
    __syncwarp(0x0000ffffu);
    out[lane] = low[15 - lane];
  } else {
    high[lane - 16] = 100 * lane;
    __syncwarp(0xffff0000u);
    out[lane] = high[31 - lane];
  }
}

int main() {
  int out[32] = {}, *d_out;
  cudaMalloc(&d_out, sizeof out);
  halves_kernel<<<1, 32>>>(d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_out);
  for (int lane = 0; lane < 32; ++lane)
    if (out[lane] != (lane < 16 ? 15 - lane : 100 * (47 - lane))) return 1;
  return 0;
}
