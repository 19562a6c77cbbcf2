// A block that has nothing to do returns at once. The others wait for it at grid.sync(), and so for ever.
//
// expect: deadlock at A
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void sum_neighbours(const float* x, float* y, float* total, int n) {
  const cg::grid_group grid = cg::this_grid();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x * blockDim.x >= n) return;
  if (i < n) y[i] = x[i] + x[(i + 1) % n];
  grid.sync();  // A
  if (i < n) atomicAdd(total, y[n - 1 - i]);
}

int main() {
  int n = 100;
  float *x, *y, *total;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMalloc(&total, sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaMemset(total, 0, sizeof(float));
  void* arguments[] = {&x, &y, &total, &n};
  cudaLaunchCooperativeKernel((void*)sum_neighbours, 3, 64, arguments, 0, 0);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  cudaFree(total);
  return 0;
}
