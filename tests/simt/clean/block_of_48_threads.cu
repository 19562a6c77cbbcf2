// Looks wrong: the block is no multiple of 32 and the tree's steps do not halve evenly.
// It is right: every step rounds up and checks its partner, and all 48 threads reach each block barrier.

#include <cuda_runtime.h>

__global__ void maximum_kernel(const int* in, int* out) {
  extern __shared__ int values[];
  const int thread = threadIdx.x;
  values[thread] = in[blockIdx.x * blockDim.x + thread];
  __syncthreads();
  for (int n = blockDim.x; n > 1;) {
    const int half = (n + 1) / 2;
    if (thread + half < n) values[thread] = max(values[thread], values[thread + half]);
    n = half;
    __syncthreads();
  }
  if (thread == 0) out[blockIdx.x] = values[0];
}

int main() {
  for (const int threads : {48, 1, 33, 100}) {
    int in[300], out[3] = {}, *d_in, *d_out;
    for (int i = 0; i < 3 * threads; ++i) in[i] = i * 71 % 293 - 400;
    cudaMalloc(&d_in, 3 * threads * sizeof(int));
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, 3 * threads * sizeof(int), cudaMemcpyHostToDevice);
    maximum_kernel<<<3, threads, threads * sizeof(int)>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int block = 0; block < 3; ++block) {
      int expected = -1000;
      for (int i = 0; i < threads; ++i) expected = max(expected, in[block * threads + i]);
      if (out[block] != expected) return 1;
    }
  }
  return 0;
}
