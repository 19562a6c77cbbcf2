// Lanes without a row of their own have returned before the product.
// expect: divergent_instruction at A

#include <cuda_runtime.h>

#include <cstdio>

#define MULTIPLY(c, a, b0, b1)                                                                 \
  asm volatile(                                                                                \
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, " \
      "{%8, %9}, {%0, %1, %2, %3};\n"                                                          \
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                         \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

__global__ void sixteen_lanes(const unsigned short* in, unsigned* out) {
  if (threadIdx.x >= 16) return;
  const unsigned x = in[threadIdx.x];
  const unsigned a[4] = {x, x, x, x};
  float c[4] = {};
  MULTIPLY(c, a, x, x);  // A
  out[threadIdx.x] = static_cast<unsigned>(c[0]);
}

int main() {
  unsigned short* in = nullptr;
  unsigned* out = nullptr;
  cudaMalloc(&in, 4096 * sizeof(unsigned short));
  cudaMalloc(&out, 32 * sizeof(unsigned));
  cudaMemset(in, 0, 4096 * sizeof(unsigned short));
  cudaMemset(out, 0, 32 * sizeof(unsigned));
  sixteen_lanes<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(in);
  cudaFree(out);
}
