// The producer arrives at barrier 1 + stage, and the consumer waits at barrier 2 + stage.
//
// expect: deadlock at A
#include <cuda_runtime.h>

__global__ void hand_over(const unsigned short* in, float* out) {
  __shared__ unsigned short buffer[2][32];
  const int t = threadIdx.x;
  for (int stage = 0; stage < 2; ++stage) {
    if (t < 32) {
      buffer[stage][t] = in[32 * stage + t];
      asm volatile("bar.arrive %0, 64;" ::"r"(1 + stage) : "memory");
    } else {
      asm volatile("bar.sync %0, 64;" ::"r"(2 + stage) : "memory");  // A
      out[32 * stage + t - 32] = buffer[stage][t - 32];
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
