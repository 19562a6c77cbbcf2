// Looks wrong: warp operations run inside a divergent branch, and how many lanes take part depends on the
// data. It is right: coalesced_threads() is exactly the lanes that are there, and every result is summed up
// in a way that does not depend on how they were grouped.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void count_odd_kernel(const int* in, int* count) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[thread] % 2 != 0) {
    const cg::coalesced_group odd = cg::coalesced_threads();
    if (odd.thread_rank() == 0) atomicAdd(count, int(odd.size()));
  }
}

int main() {
  int in[256], expected = 0, count = 0, *d_in, *d_count;
  for (int i = 0; i < 256; ++i) expected += (in[i] = i * i / 3) % 2;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_count, sizeof count);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemset(d_count, 0, sizeof count);
  count_odd_kernel<<<4, 64>>>(d_in, d_count);
  cudaMemcpy(&count, d_count, sizeof count, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_count);
  return count == expected ? 0 : 1;
}
