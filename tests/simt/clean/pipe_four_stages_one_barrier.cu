// Four stages, three tiles ahead, one barrier a step: it tells that the tile has landed and that the stage of
// the last step is free. Groups without copies keep the count of the wait the same in the last steps.
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

constexpr int kTiles = 9, kStages = 4;

__global__ void sum_tiles(const unsigned short* in, float* out) {
  __shared__ alignas(16) unsigned short stage[kStages][64 * 8];
  const int t = threadIdx.x;
  const auto fetch = [&](int tile) {
    if (tile < kTiles) copy16(&stage[tile % kStages][8 * t], &in[512 * tile + 8 * t]);
    commit();
  };
  float sum = 0.0f;
  for (int tile = 0; tile < kStages - 1; ++tile) fetch(tile);
  for (int tile = 0; tile < kTiles; ++tile) {
    wait_group<kStages - 2>();
    __syncthreads();
    fetch(tile + kStages - 1);
    sum += stage[tile % kStages][8 * (63 - t)];
  }
  out[t] = sum;
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4608 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4608 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  sum_tiles<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
