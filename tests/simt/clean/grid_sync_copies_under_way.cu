// Looks wrong: nobody waits for the copies before the grid meets.
// It is right: each thread waits for its own behind that, and the block meets before others read them.

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void reverse_kernel(const int* from, int* to) {
  __shared__ int tile[64];
  const int thread = threadIdx.x, first = blockIdx.x * 64;
  __pipeline_memcpy_async(&tile[thread], &from[first + thread], sizeof(int));
  __pipeline_commit();
  cooperative_groups::this_grid().sync();
  __pipeline_wait_prior(0);
  __syncthreads();
  to[first + thread] = tile[63 - thread];
}

int main() {
  constexpr int kN = 128;
  int values[kN], *d_from, *d_to;
  for (int i = 0; i < kN; ++i) values[i] = i;
  cudaMalloc(&d_from, sizeof values);
  cudaMalloc(&d_to, sizeof values);
  cudaMemcpy(d_from, values, sizeof values, cudaMemcpyHostToDevice);
  void* arguments[] = {&d_from, &d_to};
  cudaLaunchCooperativeKernel(reverse_kernel, dim3(2), dim3(64), arguments, 0, 0);
  cudaMemcpy(values, d_to, sizeof values, cudaMemcpyDeviceToHost);
  cudaFree(d_from);
  cudaFree(d_to);
  for (int i = 0; i < kN; ++i)
    if (values[i] != i / 64 * 64 + 63 - i % 64) return 1;
  return 0;
}
