// Rows behind the end are copied with a source of 0 bytes: the pointer may then point anywhere.
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void copy16(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared(to)), "l"(from), "r"(bytes)
               : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kLeft>
__device__ void wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

__global__ void load_tail(const unsigned short* in, float* out, int rows) {
  __shared__ alignas(16) unsigned short tile[64][8];
  const int row = threadIdx.x;
  copy16(tile[row], &in[8 * row], row < rows ? 16 : 0);
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
