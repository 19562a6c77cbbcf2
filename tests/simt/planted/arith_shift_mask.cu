// The mask of all lanes up to one's own is made with a shift by lane + 1, which is 32 in the last lane. A
// shift by the width of the type or more is undefined.
//
// expect: shift at A
#include <cuda_runtime.h>

__global__ void rank_positive(const int* x, int* ranks) {
  const int lane = threadIdx.x;
  const unsigned positive = __ballot_sync(0xffffffff, x[lane] > 0);
  const unsigned up_to_me = (1u << (lane + 1)) - 1u;  // A
  ranks[lane] = __popc(positive & up_to_me);
}

int main() {
  int *x, *ranks;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMalloc(&ranks, 32 * sizeof(int));
  cudaMemset(x, 1, 32 * sizeof(int));
  rank_positive<<<1, 32>>>(x, ranks);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(ranks);
  return 0;
}
