// The consumer says when a stage is full, and nobody says when it is free: the producer overwrites what is
// still read.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void hand_over(const unsigned short* in, float* out) {
  __shared__ unsigned short buffer[32];
  const int t = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    if (t < 32) {
      buffer[t] = in[32 * round + t];  // A
      asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[32 * round + t - 32] = buffer[63 - t];  // B
    }
  }
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  hand_over<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
