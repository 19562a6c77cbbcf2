// Of ldmatrix .x1, only the first eight lanes name a row; what the others give is no address of the tile.

#include <cuda_runtime.h>

#include <cstdio>

__global__ void first_rows(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) unsigned short tile[8][8];
  const int lane = threadIdx.x;
  tile[lane / 4][2 * (lane % 4)] = in[2 * lane];
  tile[lane / 4][2 * (lane % 4) + 1] = in[2 * lane + 1];
  __syncwarp();
  const unsigned row =
      static_cast<unsigned>(__cvta_generic_to_shared(tile)) + 16u * static_cast<unsigned>(lane);
  unsigned a = 0;
  for (int round = 0; round < 3; ++round) {
    unsigned part;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\n" : "=r"(part) : "r"(row) : "memory");
    a += part;
  }
  out[lane] = a;
}

int main() {
  unsigned short* in = nullptr;
  unsigned* out = nullptr;
  cudaMalloc(&in, 4096 * sizeof(unsigned short));
  cudaMalloc(&out, 32 * sizeof(unsigned));
  cudaMemset(in, 0, 4096 * sizeof(unsigned short));
  cudaMemset(out, 0, 32 * sizeof(unsigned));
  first_rows<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(in);
  cudaFree(out);
}
