// Looks wrong: barriers stand in branches, on different lines for different blocks.
// It is right: the conditions depend on the block and on kernel arguments, so all threads of a block go the
// same way.

#include <cuda_runtime.h>

__global__ void mirror_or_rotate_kernel(const int* in, int* out, bool twice) {
  __shared__ int values[64];
  const int thread = threadIdx.x, base = 64 * blockIdx.x;
  int value = in[base + thread];
  if (blockIdx.x % 2 == 0) {
    values[thread] = value;
    __syncthreads();
    value = values[63 - thread];
  } else if (twice) {
    for (int round = 0; round < 2; ++round) {
      values[thread] = value;
      __syncthreads();
      value = values[(thread + 1) % 64];
      __syncthreads();
    }
  }
  out[base + thread] = value;
}

int main() {
  int in[256], out[256] = {}, *d_in, *d_out;
  for (int i = 0; i < 256; ++i) in[i] = i * 11;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  mirror_or_rotate_kernel<<<4, 64>>>(d_in, d_out, true);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < 256; ++i) {
    const int block = i / 64, thread = i % 64;
    if (out[i] != in[64 * block + (block % 2 == 0 ? 63 - thread : (thread + 2) % 64)]) return 1;
  }
  return 0;
}
