// The predicate says which copies to ignore, and here it is true for the rows that exist: the others are
// read.
//
// expect: out_of_bounds at C
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kLeft>
__device__ void wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

__device__ void copy16_unless(void* to, const void* from, int ignore) {
  asm volatile(  // C
      "{ .reg .pred p; setp.ne.b32 p, %2, 0; cp.async.cg.shared.global [%0], [%1], 16, p; }" ::"r"(
          shared(to)),
      "l"(from), "r"(ignore)
      : "memory");
}

__global__ void load_tail(const unsigned short* in, float* out, int rows) {
  __shared__ alignas(16) unsigned short tile[64][8];
  const int row = threadIdx.x;
  copy16_unless(tile[row], &in[8 * row], row < rows);
  commit();
  wait_group<0>();
  out[row] = tile[row][0];
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 320 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 320 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  load_tail<<<1, 64>>>(in, out, 40);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
