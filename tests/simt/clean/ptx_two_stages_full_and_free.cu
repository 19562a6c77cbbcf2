// A warp that copies and two that compute: barrier 1 + stage says that a stage is full, 3 + stage that it is
// free.
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

constexpr int kTiles = 5;

__global__ void specialised(const unsigned short* in, float* out) {
  __shared__ alignas(16) unsigned short stage[2][32][8];
  const int t = threadIdx.x;
  if (t < 32) {
    for (int tile = 0; tile < kTiles; ++tile) {
      if (tile >= 2) asm volatile("bar.sync %0, 96;" ::"r"(3 + tile % 2) : "memory");
      copy16(stage[tile % 2][t], &in[256 * tile + 8 * t]);
      commit();
      wait_group<0>();
      asm volatile("bar.arrive %0, 96;" ::"r"(1 + tile % 2) : "memory");
    }
    return;
  }
  float sum = 0.0f;
  for (int tile = 0; tile < kTiles; ++tile) {
    asm volatile("bar.sync %0, 96;" ::"r"(1 + tile % 2) : "memory");
    sum += stage[tile % 2][95 - t < 32 ? 95 - t : 63 - t][0];
    if (tile + 2 < kTiles) asm volatile("bar.arrive %0, 96;" ::"r"(3 + tile % 2) : "memory");
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
  specialised<<<1, 96>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
