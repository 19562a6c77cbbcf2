// Only the first warp waits for its groups; the barrier behind it says nothing of the copies of the other
// one.
//
// expect: missing_wait at A, other side C
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

__global__ void reverse(const unsigned short* in, float* out) {
  __shared__ alignas(16) unsigned short tile[64][8];
  const int t = threadIdx.x;
  copy16(&tile[t][0], &in[8 * t]);
  commit();
  if (t < 32) wait_group<0>();
  __syncthreads();
  out[t] = tile[63 - t][0];  // A
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  reverse<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
