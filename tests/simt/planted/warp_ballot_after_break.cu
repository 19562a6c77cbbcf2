// Lanes leave a loop when their list ends, while the rest go on to call __ballot_sync() with the full mask.
// Lanes that left wait at the barrier behind the loop, so the named lanes never all arrive.
//
// expect: deadlock at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void count_rounds(const int* lengths, int* longer) {
  const int lane = threadIdx.x;
  int mine = 0;
  for (int k = 0; k < lengths[lane]; ++k) {
    const unsigned alive = __ballot_sync(0xffffffff, k + 1 < lengths[lane]);  // A
    mine += __popc(alive);
  }
  __syncthreads();
  longer[lane] = mine;
}

int main() {
  int values[32], *lengths, *longer;
  for (int i = 0; i < 32; ++i) values[i] = i < 20 ? 2 : 3;
  cudaMalloc(&lengths, sizeof values);
  cudaMalloc(&longer, sizeof values);
  cudaMemcpy(lengths, values, sizeof values, cudaMemcpyHostToDevice);
  count_rounds<<<1, 32>>>(lengths, longer);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(lengths);
  cudaFree(longer);
  return 0;
}
