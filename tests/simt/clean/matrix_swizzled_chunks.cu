// Rows of 128 bytes without padding: chunk c of row r lies at c ^ (r % 8), for the copies and for ldmatrix.
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(to)), "l"(from) : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kLeft>
__device__ void wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

__device__ void load_matrices(unsigned (&a)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(shared(row))
               : "memory");
}

__device__ unsigned short* chunk_of(unsigned short (&tile)[16][64], int row, int chunk) {
  return &tile[row][8 * (chunk ^ (row % 8))];
}

__global__ void load_tile(const unsigned short* in, unsigned* out) {
  __shared__ alignas(128) unsigned short tile[16][64];
  const int lane = threadIdx.x;
  for (int i = lane; i < 16 * 8; i += 32) copy16(chunk_of(tile, i / 8, i % 8), &in[8 * i]);
  commit();
  wait_group<0>();
  __syncwarp();
  unsigned sum = 0;
  for (int k = 0; k < 4; ++k) {
    unsigned a[4];
    load_matrices(a, chunk_of(tile, lane % 16, 2 * k + lane / 16));
    sum += a[0] ^ a[1] ^ a[2] ^ a[3];
  }
  out[lane] = sum;
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
