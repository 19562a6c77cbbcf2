// Looks wrong: the block has 40 threads, so the second warp shuffles with a mask of 8 lanes.
// It is right: the mask comes from the number of threads that exist, and no lane reads outside it.

#include <cuda_runtime.h>

__global__ void last_of_warp_kernel(const int* in, int* out) {
  const int thread = threadIdx.x, first = thread / 32 * 32;
  const int lanes = min(32, int(blockDim.x) - first);
  const unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1u;
  out[thread] = __shfl_sync(mask, in[thread], lanes - 1);
}

int main() {
  int in[40], out[40] = {}, *d_in, *d_out;
  for (int i = 0; i < 40; ++i) in[i] = 2 * i + 5;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  last_of_warp_kernel<<<1, 40>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < 40; ++i)
    if (out[i] != in[i < 32 ? 31 : 39]) return 1;
  return 0;
}
