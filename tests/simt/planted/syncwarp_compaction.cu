// A warp packs its positive values to the front of shared memory and reads them back in order right away.
// The ballot before the stores orders nothing, and neither does the warp: __syncwarp() belongs after the
// stores.
//
// expect: missing_syncwarp at A, other side B
#include <cuda_runtime.h>

__global__ void keep_positive(const int* x, int* kept, int* count) {
  __shared__ int packed[32];
  const int lane = threadIdx.x, value = x[lane];
  const unsigned positive = __ballot_sync(0xffffffff, value > 0);
  const unsigned below = positive & ((1u << lane) - 1u);
  if (value > 0) packed[__popc(below)] = value;            // A
  if (lane < __popc(positive)) kept[lane] = packed[lane];  // B
  if (lane == 0) *count = __popc(positive);
}

int main() {
  int values[32], *x, *kept, *count;
  for (int i = 0; i < 32; ++i) values[i] = i * 7 % 32 - 16;
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&kept, sizeof values);
  cudaMalloc(&count, sizeof(int));
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  keep_positive<<<1, 32>>>(x, kept, count);
  cudaMemcpy(values, count, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(kept);
  cudaFree(count);
  return 0;
}
