// Two groups of warps take turns: each waits at a barrier of its own that the other one opens.
#include <cuda_runtime.h>

__global__ void ping_pong(const unsigned short* in, float* out) {
  __shared__ float shared_sum[64];
  const int t = threadIdx.x, group = t / 64;
  if (group == 0) shared_sum[t] = 0.0f;
  if (group == 0) asm volatile("bar.arrive 1, 128;" ::: "memory");
  for (int round = 0; round < 3; ++round) {
    asm volatile("bar.sync %0, 128;" ::"r"(2 - group) : "memory");
    shared_sum[63 - t % 64] += in[t] + round;
    asm volatile("bar.arrive %0, 128;" ::"r"(1 + group) : "memory");
  }
  out[t] = 0.0f;
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  ping_pong<<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
