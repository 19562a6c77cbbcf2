// The last copy of an odd row reads the elements that are left and fills the rest with zeros.
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

__global__ void load_tail(const unsigned short* in, float* out, int n) {
  __shared__ alignas(16) unsigned short tile[64 * 8];
  const int t = threadIdx.x;
  copy16(&tile[8 * t], &in[min(8 * t, n / 8 * 8)], min(max(n - 8 * t, 0), 8) * 2);
  commit();
  wait_group<0>();
  __syncthreads();
  for (int i = 0; i < 8; ++i) out[8 * t + i] = tile[8 * (63 - t) + i];
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
