// A sum over a grid whose blocks wait for each other, launched as nvcc's samples do.

#include <cooperative_groups.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void sum_kernel(const int* in, int* partial, int* out, int n) {
  const cg::grid_group grid = cg::this_grid();
  __shared__ int block_sum;
  if (threadIdx.x == 0) block_sum = 0;
  __syncthreads();
  for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) atomicAdd(&block_sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) partial[blockIdx.x] = block_sum;
  grid.sync();
  if (grid.thread_rank() == 0) {
    int sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) sum += partial[block];
    out[0] = sum;
  }
  cg::sync(grid);
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) out[1] = out[0] + 1;
}

int main() {
  int n = 10000, *in, *partial, *out, cooperative = 0;
  cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0);
  cudaMallocManaged(&in, n * sizeof(int));
  cudaMalloc(&partial, 64 * sizeof(int));
  cudaMallocManaged(&out, 2 * sizeof(int));
  for (int i = 0; i < n; ++i) in[i] = i % 10;
  void* arguments[] = {&in, &partial, &out, &n};
  const cudaError_t fits =
      cudaLaunchCooperativeKernel((void*)sum_kernel, dim3(24), dim3(128), arguments, 0, 0);
  cudaDeviceSynchronize();
  const cudaError_t too_large =
      cudaLaunchCooperativeKernel((void*)sum_kernel, dim3(100000), dim3(128), arguments, 0, 0);
  printf("%d %d %d %s %s\n", cooperative, out[0], out[1], cudaGetErrorName(fits),
         cudaGetErrorName(too_large));
  const bool right = cooperative == 1 && out[0] == 45000 && out[1] == 45001 && fits == cudaSuccess &&
                     too_large == cudaErrorCooperativeLaunchTooLarge;
  cudaFree(in);
  cudaFree(partial);
  cudaFree(out);
  return right ? 0 : 1;
}
