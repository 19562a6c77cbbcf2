// A tile of 64 threads waits for itself, and reads what the other tile writes.
// expect: race at A, other side B

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void exchange(int* out) {
  __shared__ int values[128];
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  values[threadIdx.x] = threadIdx.x;  // A
  tile.sync();
  out[threadIdx.x] = values[127 - threadIdx.x];  // B
}

int main() {
  int* out;
  cudaMalloc(&out, 128 * sizeof(int));
  exchange<<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
