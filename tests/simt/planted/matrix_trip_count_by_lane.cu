// How many products a lane computes depends on the length of its row, so that some come to a product without
// the others.
//
// expect: divergent_instruction at M
#include <cuda_runtime.h>

__device__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(  // M
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, "
      "%1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void product(const unsigned short* in, float* out) {
  const int lane = threadIdx.x;
  const unsigned x = in[lane];
  const unsigned a[4] = {x, x, x, x};
  float c[4] = {};
  for (int k = 0; k < 2 + lane / 16; ++k) multiply(c, a, x, x);
  out[lane] = c[0];
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  product<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
