// Looks wrong: the same two arrays are source and target in turn, through pointers that every thread swaps.
// It is right: the swap is in registers and the same in all threads, and a barrier ends each step.

#include <cuda_runtime.h>

constexpr int kN = 96;

__global__ void smooth_kernel(const int* in, int* out, int steps) {
  __shared__ int buffers[2][kN];
  int *from = buffers[0], *to = buffers[1];
  const int i = threadIdx.x;
  from[i] = in[i];
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    to[i] = (from[(i + kN - 1) % kN] + 2 * from[i] + from[(i + 1) % kN]) / 4;
    int* const swap = from;
    from = to;
    to = swap;
    __syncthreads();  // `from` is complete, and nobody reads `to` any more
  }
  out[i] = from[i];
}

int main() {
  int now[kN], next[kN], out[kN] = {}, *d_in, *d_out;
  for (int i = 0; i < kN; ++i) now[i] = i * i % 1000;
  cudaMalloc(&d_in, sizeof now);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, now, sizeof now, cudaMemcpyHostToDevice);
  smooth_kernel<<<1, kN>>>(d_in, d_out, 5);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int step = 0; step < 5; ++step) {
    for (int i = 0; i < kN; ++i) next[i] = (now[(i + kN - 1) % kN] + 2 * now[i] + now[(i + 1) % kN]) / 4;
    for (int i = 0; i < kN; ++i) now[i] = next[i];
  }
  for (int i = 0; i < kN; ++i)
    if (out[i] != now[i]) return 1;
  return 0;
}
