// A warp stores its part of a tile by stmatrix, and another warp reads it at once.
// expect: race at A, other side B

#include <cuda_runtime.h>

#include <cstdio>

__global__ void exchange(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) unsigned tile[2][32][4];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned value = in[threadIdx.x];
  const unsigned row = static_cast<unsigned>(__cvta_generic_to_shared(&tile[warp][lane][0]));
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %1};\n"  // A
               ::"r"(row),
               "r"(value)
               : "memory");
  out[threadIdx.x] = tile[1 - warp][lane % 16][0];  // B
}

int main() {
  unsigned short* in = nullptr;
  unsigned* out = nullptr;
  cudaMalloc(&in, 4096 * sizeof(unsigned short));
  cudaMalloc(&out, 64 * sizeof(unsigned));
  cudaMemset(in, 0, 4096 * sizeof(unsigned short));
  cudaMemset(out, 0, 64 * sizeof(unsigned));
  exchange<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(in);
  cudaFree(out);
}
