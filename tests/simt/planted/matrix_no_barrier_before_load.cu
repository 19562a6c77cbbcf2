// Two warps fill a tile, and each loads rows that the other has written: the barrier is missing.
// expect: race at A, other side B

#include <cuda_runtime.h>

#include <cstdio>

__device__ void load_a(unsigned (&a)[4], const void* row) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"  // B
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(address)
               : "memory");
}

__global__ void tile_of_two_warps(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) unsigned short tile[16][24];
  const int thread = threadIdx.x, lane = thread % 32;
  for (int i = thread; i < 16 * 24; i += 64) tile[i / 24][i % 24] = in[i];  // A
  unsigned a[4];
  load_a(a, &tile[lane % 16][lane / 16 * 8]);
  out[thread] = a[0] + a[1] + a[2] + a[3];
}

int main() {
  unsigned short* in = nullptr;
  unsigned* out = nullptr;
  cudaMalloc(&in, 4096 * sizeof(unsigned short));
  cudaMalloc(&out, 64 * sizeof(unsigned));
  cudaMemset(in, 0, 4096 * sizeof(unsigned short));
  cudaMemset(out, 0, 64 * sizeof(unsigned));
  tile_of_two_warps<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(in);
  cudaFree(out);
}
