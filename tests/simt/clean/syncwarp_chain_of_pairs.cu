// Looks wrong: lane 31 reads what lane 0 wrote, but no __syncwarp() names both.
// It is right: the calls overlap (0 and 1, 1 and 2, ...), and order passes from each to the next.

#include <cuda_runtime.h>

__global__ void relay_kernel(int* out) {
  __shared__ int message, path[32];
  const int lane = threadIdx.x;
  if (lane == 0) message = 77;
  if (lane > 0) __syncwarp(3u << (lane - 1));  // with the lane below: it has what came before
  path[lane] = lane > 0 ? path[lane - 1] + lane : 0;
  if (lane < 31) __syncwarp(3u << lane);  // with the lane above
  if (lane == 31) *out = message + path[31];
}

int main() {
  int out = 0, *d_out;
  cudaMalloc(&d_out, sizeof out);
  relay_kernel<<<1, 32>>>(d_out);
  cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_out);
  return out == 77 + 31 * 16 ? 0 : 1;
}
