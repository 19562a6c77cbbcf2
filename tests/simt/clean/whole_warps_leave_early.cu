// Looks wrong: threads return before a barrier that others wait at.
// It is right: whole warps leave, and a barrier waits for the threads that have not exited.

#include <cuda_runtime.h>

__global__ void reverse_rows_kernel(const int* in, int* out, int active_warps) {
  __shared__ int values[128];
  const int thread = threadIdx.x, n = 32 * active_warps;
  if (thread >= n) return;  // n is a multiple of 32
  values[thread] = in[thread];
  __syncthreads();
  out[thread] = values[n - 1 - thread];
}

int main() {
  int in[96], out[96] = {}, *d_in, *d_out;
  for (int i = 0; i < 96; ++i) in[i] = 5 * i;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  reverse_rows_kernel<<<1, 128>>>(d_in, d_out, 3);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < 96; ++i)
    if (out[i] != in[95 - i]) return 1;
  return 0;
}
