// Looks wrong: four threads write into the same 4-byte word at the same time.
// It is right: each writes a byte of its own, and bytes are separate memory locations.

#include <cuda_runtime.h>

__global__ void rot13_kernel(const unsigned char* in, unsigned char* out, int n) {
  __shared__ unsigned char text[64];
  const int i = threadIdx.x;
  if (i < n) text[i] = (in[i] - 'a' + 13) % 26 + 'a';
  __syncthreads();
  if (i < n) out[n - 1 - i] = text[i];
}

int main() {
  constexpr int kN = 53;
  unsigned char in[kN], out[kN] = {}, *d_in, *d_out;
  for (int i = 0; i < kN; ++i) in[i] = 'a' + i * 5 % 26;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  rot13_kernel<<<1, 64>>>(d_in, d_out, kN);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < kN; ++i)
    if (out[kN - 1 - i] != (in[i] - 'a' + 13) % 26 + 'a') return 1;
  return 0;
}
