// Blocks count into histograms of their own and then merge them into the one in global memory with a plain
// +=. All blocks add to the same 32 bins: that takes atomicAdd(), for the merge as much as for the counting.
//
// expect: race at A, other side A
#include <cuda_runtime.h>

__global__ void histogram(const unsigned char* x, int n, unsigned* bins) {
  __shared__ unsigned local[32];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[x[i] / 8], 1u);
  __syncthreads();
  bins[threadIdx.x] += local[threadIdx.x];  // A
}

int main() {
  unsigned char values[400], *x;
  unsigned* bins;
  for (int i = 0; i < 400; ++i) values[i] = i * i;
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&bins, 32 * sizeof(unsigned));
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, 32 * sizeof(unsigned));
  histogram<<<4, 32>>>(x, 400, bins);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(bins);
  return 0;
}
