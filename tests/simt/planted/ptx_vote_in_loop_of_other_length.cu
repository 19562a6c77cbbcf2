// Warps vote at a named barrier in each round, and one warp has a round more than the others.
//
// expect: deadlock at A
#include <cuda_runtime.h>

__global__ void rounds(const unsigned short* in, float* out) {
  const unsigned t = threadIdx.x;
  unsigned any = 1;
  for (unsigned round = 0; round < 3 + t / 64; ++round)
    asm volatile(  // A
        "{ .reg .pred p, q; setp.ne.u32 p, %1, 9; bar.red.or.pred q, 1, 96, p; selp.u32 %0, 1, 0, q; }"
        : "=r"(any)
        : "r"(round + in[t]));
  out[t] = any;
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  rounds<<<1, 96>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
