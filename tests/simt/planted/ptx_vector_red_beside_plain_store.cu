// The first block clears the sums that the others add to: nothing says that it comes first.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void accumulate(const unsigned short* in, float* out) {
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    out[2 * t] = out[2 * t + 1] = 0.0f;  // A
    return;
  }
  const float x = 1.0f + in[32 * blockIdx.x + t];
  asm volatile("red.global.add.v2.f32 [%0], {%1, %1};" ::"l"(&out[2 * t]), "f"(x) : "memory");  // B
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
