// Warps without rows leave by exit; those that stay count each other at a barrier with a number, and load
// their matrices.
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void load_matrices(unsigned (&a)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(shared(row))
               : "memory");
}

__global__ void load_rows(const unsigned short* in, unsigned* out, int warps) {
  __shared__ alignas(16) unsigned short tile[64][24];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  asm volatile("{ .reg .pred p; setp.ge.s32 p, %0, %1; @p exit; }" ::"r"(warp), "r"(warps));
  for (int i = lane; i < 256; i += 32) tile[16 * warp + i / 16][i % 16] = in[256 * warp + i];
  asm volatile("bar.sync 1, %0;" ::"r"(32 * warps) : "memory");
  unsigned a[4];
  load_matrices(a, &tile[16 * (warps - 1 - warp) + lane % 16][lane / 16 * 8]);
  out[t] = a[0] ^ a[1] ^ a[2] ^ a[3];
}

int main() {
  unsigned short* in;
  unsigned* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  load_rows<<<1, 128>>>(in, out, 3);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
