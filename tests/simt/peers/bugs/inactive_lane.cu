// Half a warp shuffles with the right mask, and reads the other half.

#include <cuda_runtime.h>

#include <vector>

__global__ void add_halves_kernel(const float* x, float* y, int n) {
  const int lane = threadIdx.x;
  float sum = x[lane];
  if (lane < 16)
    sum += __shfl_down_sync(0x0000ffff, sum, 8);  // bug: lane 8 reads lane 16, which takes no part
  y[lane] = sum;
}

int main() {
  const int n = 32;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add_halves_kernel<<<1, 32>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
