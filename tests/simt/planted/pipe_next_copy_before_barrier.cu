// Two stages and one barrier a step: the next copy goes into the stage that slower warps still read.
//
// expect: race at A, other side C
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

constexpr int kTiles = 4;

__global__ void sum_tiles(const unsigned short* in, float* out) {
  __shared__ alignas(16) unsigned short stage[2][64 * 8];
  const int t = threadIdx.x;
  float sum = 0.0f;
  copy16(&stage[0][8 * t], &in[8 * t]);
  commit();
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles) copy16(&stage[(tile + 1) % 2][8 * t], &in[512 * (tile + 1) + 8 * t]);
    commit();
    wait_group<1>();
    __syncthreads();
    sum += stage[tile % 2][8 * (63 - t)];  // A
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
  sum_tiles<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
