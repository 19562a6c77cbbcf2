// The kernel has three stages now, and the launch still asks for the shared memory of two.
//
// expect: out_of_bounds at C
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

constexpr int kStages = 3;

__global__ void load_stages(const unsigned short* in, float* out) {
  extern __shared__ __align__(16) unsigned short stages[];
  const int t = threadIdx.x;
  for (int stage = 0; stage < kStages; ++stage) {
    copy16(&stages[512 * stage + 8 * t], &in[512 * stage + 8 * t]);
    commit();
  }
  wait_group<0>();
  __syncthreads();
  out[t] = stages[8 * t];
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  load_stages<<<1, 64, 2 * 1024>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
