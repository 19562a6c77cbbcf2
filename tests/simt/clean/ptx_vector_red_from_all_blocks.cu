// All blocks add to the same sums, two and four at a time, and nobody reads them before the launch has ended.
#include <cuda_runtime.h>

__global__ void accumulate(const unsigned short* in, float* out) {
  const int t = threadIdx.x;
  const float x = 1.0f + in[32 * blockIdx.x + t];
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(&out[4 * (t / 2)]), "f"(x) : "memory");
  asm volatile("red.global.add.v2.f32 [%0], {%1, %1};" ::"l"(&out[2 * t]), "f"(x) : "memory");
#endif
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(&out[t]), "f"(x) : "memory");
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  accumulate<<<4, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
