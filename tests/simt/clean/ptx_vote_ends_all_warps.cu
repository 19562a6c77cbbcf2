// A pair of warps votes at a barrier of its own whether to go on, so that all of its threads leave the loop
// together.
#include <cuda_runtime.h>

__global__ void rounds(const unsigned short* in, float* out) {
  __shared__ unsigned left[128];
  const unsigned t = threadIdx.x, pair = t / 64;
  left[t] = 1 + t % 3 + in[t];
  unsigned any = 1, count = 0;
  while (any != 0) {
    if (left[t] > 0) --left[t], ++count;
    asm volatile(
        "{ .reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red.or.pred q, %2, 64, p; selp.u32 %0, 1, 0, q; }"
        : "=r"(any)
        : "r"(left[t]), "r"(1 + pair)
        : "memory");
  }
  out[t] = count + left[t ^ 1];
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  rounds<<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
