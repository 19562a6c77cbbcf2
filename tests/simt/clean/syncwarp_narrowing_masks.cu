// Looks wrong: each step of the tree synchronises fewer lanes than the step before.
// It is right: a step's mask holds all its writers and all readers of what they wrote; the others are done.

#include <cuda_runtime.h>

__global__ void narrowing_tree_kernel(const int* in, int* sum) {
  __shared__ int values[32];
  const int lane = threadIdx.x;
  values[lane] = in[lane];
  __syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    if (lane >= step) break;
    values[lane] += values[lane + step];
    __syncwarp((1u << step) - 1u);  // the lanes below `step` are those that the next step needs
  }
  if (lane == 0) *sum = values[0];
}

int main() {
  int in[32], expected = 0, sum = 0, *d_in, *d_sum;
  for (int i = 0; i < 32; ++i) expected += in[i] = i * i;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_sum, sizeof sum);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  narrowing_tree_kernel<<<1, 32>>>(d_in, d_sum);
  cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_sum);
  return sum == expected ? 0 : 1;
}
