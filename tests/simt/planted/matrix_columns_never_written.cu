// Only half of the columns that ldmatrix loads have been written.
// expect: uninitialised_read at A, tile[0][8]

#include <cuda_runtime.h>

#include <cstdio>

__device__ void load_a(unsigned (&a)[4], const void* row) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"  // A
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(address)
               : "memory");
}

__global__ void half_filled(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) unsigned short tile[16][24];
  const int lane = threadIdx.x;
  for (int i = lane; i < 16 * 8; i += 32) tile[i / 8][i % 8] = in[i];
  __syncwarp();
  unsigned a[4];
  load_a(a, &tile[lane % 16][lane / 16 * 8]);
  out[lane] = a[0] + a[1] + a[2] + a[3];
}

int main() {
  unsigned short* in = nullptr;
  unsigned* out = nullptr;
  cudaMalloc(&in, 4096 * sizeof(unsigned short));
  cudaMalloc(&out, 32 * sizeof(unsigned));
  cudaMemset(in, 0, 4096 * sizeof(unsigned short));
  cudaMemset(out, 0, 32 * sizeof(unsigned));
  half_filled<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(in);
  cudaFree(out);
}
