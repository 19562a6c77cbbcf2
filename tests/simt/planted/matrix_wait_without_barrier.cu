// Each thread waits for its own copies, and ldmatrix reads rows that the other warp has copied.
//
// expect: race at L, other side C
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(to)), "l"(from) : "memory");  // C
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kLeft>
__device__ void wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

__device__ void load_matrices(unsigned (&a)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"  // L
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(shared(row))
               : "memory");
}

__global__ void load_tile(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) unsigned short tile[2][16][24];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  copy16(&tile[warp][lane / 2][lane % 2 * 8], &in[8 * t]);
  commit();
  wait_group<0>();
  __syncwarp();
  unsigned a[4];
  load_matrices(a, &tile[1 - warp][lane % 16][lane / 16 * 8]);
  out[t] = a[0] ^ a[1] ^ a[2] ^ a[3];
}

int main() {
  unsigned short* in;
  unsigned* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  load_tile<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
