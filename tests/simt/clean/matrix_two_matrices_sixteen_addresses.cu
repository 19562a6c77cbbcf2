// ldmatrix.x2 looks at the addresses of the lanes 0 to 15 alone; those of the others lie behind the tile.
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

__global__ void load_keys(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) unsigned short keys[8][16];
  const int lane = threadIdx.x;
  if (lane < 16) copy16(&keys[lane / 2][lane % 2 * 8], &in[8 * lane]);
  commit();
  wait_group<0>();
  __syncwarp();
  unsigned b[2];
  const unsigned row = shared(&keys[0][0]) + 32 * (lane % 8) + 16 * (lane / 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(b[0]), "=r"(b[1])
               : "r"(row)
               : "memory");
  out[lane] = b[0] ^ b[1];
}

int main() {
  unsigned short* in;
  unsigned* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  load_keys<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
