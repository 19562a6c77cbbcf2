// The first lane of each warp adds its warp's dot product to one shared variable with +=. Warps run side by
// side: between barriers one element may have one writer, or atomics.
//
// expect: race at A, other side A, total
#include <cuda_runtime.h>

__global__ void dot(const float* x, const float* y, float* result, int n) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i] * y[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) total += sum;  // A
  __syncthreads();
  if (threadIdx.x == 0) *result = total;
}

int main() {
  const int n = 1000;
  float values[n], *x, *y, *result;
  for (int i = 0; i < n; ++i) values[i] = 0.25f * (i % 37);
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&y, sizeof values);
  cudaMalloc(&result, sizeof(float));
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemcpy(y, values, sizeof values, cudaMemcpyHostToDevice);
  dot<<<1, 128>>>(x, y, result, n);
  cudaMemcpy(values, result, sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  cudaFree(result);
  return 0;
}
