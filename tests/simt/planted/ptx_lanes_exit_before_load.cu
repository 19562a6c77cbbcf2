// Lanes without a row leave by exit, and the rest of the warp goes on to ldmatrix.
//
// expect: divergent_instruction at L
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void load_matrices(unsigned (&a)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"  // L
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(shared(row))
               : "memory");
}

__global__ void load_tile(const unsigned short* in, unsigned* out, int rows) {
  __shared__ alignas(16) unsigned short tile[16][24];
  const int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) tile[i / 16][i % 16] = in[i];
  __syncwarp();
  asm volatile("{ .reg .pred p; setp.ge.s32 p, %0, %1; @p exit; }" ::"r"(lane), "r"(rows));
  unsigned a[4];
  load_matrices(a, &tile[lane % 16][lane / 16 * 8]);
  out[lane] = a[0] ^ a[1] ^ a[2] ^ a[3];
}

int main() {
  unsigned short* in;
  unsigned* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  load_tile<<<1, 32>>>(in, out, 24);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
