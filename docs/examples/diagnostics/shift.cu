// shift: the mask of the lanes up to one's own is a shift by 32 in the last lane.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

// [broken]
__global__ void rank_broken(const int* x, int* ranks) {
  const int lane = threadIdx.x;
  const unsigned chosen = __ballot_sync(0xffffffff, x[lane] == 0);
  const unsigned up_to_me = (1u << (lane + 1)) - 1u;
  ranks[lane] = __popc(chosen & up_to_me);
}
// [broken]

// [fixed]
__global__ void rank_fixed(const int* x, int* ranks) {
  const int lane = threadIdx.x;
  const unsigned chosen = __ballot_sync(0xffffffff, x[lane] == 0);
  const unsigned up_to_me = 0xffffffffu >> (31 - lane);
  ranks[lane] = __popc(chosen & up_to_me);
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  int* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 32 * sizeof(int)));
  CUDA_CHECK(cudaMemset(x, 0, 32 * sizeof(int)));
  int* ranks = nullptr;
  CUDA_CHECK(cudaMalloc(&ranks, 32 * sizeof(int)));
  if (fixed)
    rank_fixed<<<1, 32>>>(x, ranks);
  else
    rank_broken<<<1, 32>>>(x, ranks);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(ranks));
}
