// A warp stores a tile by stmatrix and reads its rows as vectors behind a __syncwarp().

#include <cuda_runtime.h>

#include <cstdio>

__global__ void rows_of_registers(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) uint4 tile[2][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned row = static_cast<unsigned>(__cvta_generic_to_shared(&tile[warp][lane]));
  for (int round = 0; round < 2; ++round) {
    const unsigned value = in[threadIdx.x] + static_cast<unsigned>(round);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(row),
                 "r"(value), "r"(value), "r"(value), "r"(value)
                 : "memory");
    __syncwarp();
    const uint4 mine = tile[warp][lane];
    out[64 * round + threadIdx.x] = mine.x + mine.y + mine.z + mine.w;
    __syncwarp();
  }
}

int main() {
  unsigned short* in = nullptr;
  unsigned* out = nullptr;
  cudaMalloc(&in, 4096 * sizeof(unsigned short));
  cudaMalloc(&out, 128 * sizeof(unsigned));
  cudaMemset(in, 0, 4096 * sizeof(unsigned short));
  cudaMemset(out, 0, 128 * sizeof(unsigned));
  rows_of_registers<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(in);
  cudaFree(out);
}
