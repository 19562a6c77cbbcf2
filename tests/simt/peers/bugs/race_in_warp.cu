// Neighbours in one warp exchange values through shared memory without __syncwarp().

#include <cuda_runtime.h>

#include <vector>

__global__ void swap_neighbours_kernel(const float* x, float* y, int n) {
  __shared__ float tile[32];
  const int thread = threadIdx.x;
  tile[thread] = x[thread];      // bug: nothing orders this write
  y[thread] = tile[thread ^ 1];  // bug: and the neighbour's read
}

int main() {
  const int n = 32;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  swap_neighbours_kernel<<<1, 32>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
