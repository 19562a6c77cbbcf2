// Looks wrong: one warp reads shared memory that another warp writes, and no barrier lies between.
// It is right: the writer fences and then sets a flag by an atomic; the reader sees the flag by an atomic and
// then fences.

#include <cuda_runtime.h>

__global__ void relay_kernel(const int* in, int* out) {
  __shared__ int values[32], ready;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (warp == 0) {
    values[lane] = 3 * in[lane];
    __threadfence_block();
    __syncwarp();
    if (lane == 0) atomicExch(&ready, 1);
  } else {
    if (lane == 0)
      while (atomicAdd(&ready, 0) == 0) {
      }
    __syncwarp();
    __threadfence_block();
    out[lane] = values[31 - lane];
  }
}

int main() {
  int in[32], out[32] = {}, *d_in, *d_out;
  for (int i = 0; i < 32; ++i) in[i] = i + 4;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  relay_kernel<<<1, 64>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < 32; ++i)
    if (out[i] != 3 * in[31 - i]) return 1;
  return 0;
}
