// The swizzle exchanges elements where it should exchange chunks of 8, so that rows begin at odd addresses.
//
// expect: misaligned at L
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void load_matrices(unsigned (&a)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"  // L
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(shared(row))
               : "memory");
}

__global__ void load_tile(const unsigned short* in, unsigned* out) {
  __shared__ alignas(128) unsigned short tile[16][64];
  const int lane = threadIdx.x;
  for (int i = lane; i < 16 * 64; i += 32) tile[i / 64][(i % 64) ^ (i / 64 % 8)] = in[i];
  __syncwarp();
  unsigned a[4];
  const int row = lane % 16;
  load_matrices(a, &tile[row][(lane / 16 * 8) ^ (row % 8)]);
  out[lane] = a[0] ^ a[1] ^ a[2] ^ a[3];
}

int main() {
  unsigned short* in;
  unsigned* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  load_tile<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
