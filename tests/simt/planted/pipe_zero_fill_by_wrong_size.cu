// How many bytes are left is computed with 4 bytes an element, and elements have 2: the last copy is whole
// where 5 elements are left.
//
// expect: out_of_bounds at C
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void copy16(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"  // C
               ::"r"(shared(to)),
               "l"(from), "r"(bytes)
               : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kLeft>
__device__ void wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

__global__ void load_tail(const unsigned short* in, float* out, int n) {
  __shared__ alignas(16) unsigned short tile[64 * 8];
  const int t = threadIdx.x;
  copy16(&tile[8 * t], &in[8 * t], min(4 * max(n - 8 * t, 0), 16));
  commit();
  wait_group<0>();
  out[t] = tile[8 * t];
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 253 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 253 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  load_tail<<<1, 64>>>(in, out, 253);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
