// Looks wrong: elements are swapped in place, and many steps synchronise the warp instead of the block.
// It is right: one thread of a pair does the swap, and as long as the distance is below 32 both are in one
// warp.

#include <cuda_runtime.h>

__global__ void sort_kernel(int* data) {
  __shared__ int values[128];
  const int i = threadIdx.x;
  values[i] = data[i];
  for (int run = 2; run <= 128; run *= 2)
    for (int distance = run / 2; distance > 0; distance /= 2) {
      if (distance >= 16)
        __syncthreads();  // the pairs of this step, or those of the step before, span warps
      else
        __syncwarp();
      const int partner = i ^ distance;
      if (partner > i && (values[i] > values[partner]) == ((i & run) == 0)) {
        const int swap = values[i];
        values[i] = values[partner];
        values[partner] = swap;
      }
    }
  __syncthreads();
  data[i] = values[i];
}

int main() {
  int data[128], *d_data;
  bool present[128] = {};
  for (int i = 0; i < 128; ++i) data[i] = i * 75 % 128;
  for (int value : data) present[value] = true;
  cudaMalloc(&d_data, sizeof data);
  cudaMemcpy(d_data, data, sizeof data, cudaMemcpyHostToDevice);
  sort_kernel<<<1, 128>>>(d_data);
  cudaMemcpy(data, d_data, sizeof data, cudaMemcpyDeviceToHost);
  cudaFree(d_data);
  for (int i = 0; i < 128; ++i)
    if (!present[i] || data[i] != i) return 1;
  return 0;
}
