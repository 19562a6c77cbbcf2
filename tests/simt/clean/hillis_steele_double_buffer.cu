// Looks wrong: every thread reads an element that another thread owns and writes in the same step.
// It is right: the step reads one half of the buffer and writes the other, and one barrier separates the
// steps.

#include <cuda_runtime.h>

__global__ void scan_kernel(const int* in, int* out) {
  extern __shared__ int halves[];
  const int thread = threadIdx.x, n = blockDim.x;
  int from = 0;
  halves[thread] = in[thread];
  __syncthreads();
  for (int distance = 1; distance < n; distance *= 2) {
    const int to = n - from;
    halves[to + thread] = halves[from + thread] + (thread >= distance ? halves[from + thread - distance] : 0);
    from = to;
    __syncthreads();
  }
  out[thread] = halves[from + thread];
}

int main() {
  constexpr int kN = 80;
  int in[kN], out[kN] = {}, *d_in, *d_out;
  for (int i = 0; i < kN; ++i) in[i] = 40 - i;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  scan_kernel<<<1, kN, 2 * kN * sizeof(int)>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  int expected = 0;
  for (int i = 0; i < kN; ++i)
    if (out[i] != (expected += in[i])) return 1;
  return 0;
}
