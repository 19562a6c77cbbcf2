// A predicate within the statement skips the copies of rows that do not exist, and their zeros are plain
// stores.
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kLeft>
__device__ void wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

__device__ void copy16_if(bool exists, void* to, const void* from) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; "
      "@!p st.shared.v4.u32 [%0], {0, 0, 0, 0}; }" ::"r"(shared(to)),
      "l"(from), "r"(static_cast<int>(exists))
      : "memory");
}

__global__ void load_tail(const unsigned short* in, float* out, int rows) {
  __shared__ alignas(16) unsigned short tile[64][8];
  const int row = threadIdx.x;
  copy16_if(row < rows, tile[row], &in[8 * row]);
  commit();
  wait_group<0>();
  __syncthreads();
  out[row] = tile[63 - row][7];
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
