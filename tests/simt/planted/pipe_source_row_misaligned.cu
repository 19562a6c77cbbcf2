// Rows of 20 elements are 40 bytes: every second one begins at no multiple of the 16 bytes that cp.async
// copies.
//
// expect: misaligned at C
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

__global__ void load_rows(const unsigned short* in, float* out) {
  __shared__ alignas(16) unsigned short tile[32][24];
  const int row = threadIdx.x;
  copy16(&tile[row][0], &in[20 * row]);
  commit();
  wait_group<0>();
  out[row] = tile[row][0];
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  load_rows<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
