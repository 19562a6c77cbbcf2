// Four sums are added at once where only pairs are aligned.
//
// expect: misaligned at A
#include <cuda_runtime.h>

__global__ void accumulate(const unsigned short* in, float* out) {
  const int t = threadIdx.x;
  const float x = in[t];
  float* const to = &out[4 * t + 2];
  asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(to), "f"(x) : "memory");  // A
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  accumulate<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
