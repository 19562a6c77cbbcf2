// Each thread reads what it has copied itself: its own wait is enough.
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

__global__ void scale(const unsigned short* in, float* out) {
  __shared__ alignas(16) unsigned short stage[2][64][8];
  const int t = threadIdx.x;
  float sum = 0.0f;
  copy16(stage[0][t], &in[8 * t]);
  commit();
  for (int tile = 0; tile < 4; ++tile) {
    if (tile < 3) copy16(stage[(tile + 1) % 2][t], &in[512 * (tile + 1) + 8 * t]);
    commit();
    wait_group<1>();
    for (int i = 0; i < 8; ++i) sum += stage[tile % 2][t][i];
  }
  out[t] = sum;
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  scale<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
