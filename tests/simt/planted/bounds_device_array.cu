// A table is interpolated between an entry and the next, and its last entry has no next. A __device__ array
// is bounded by its type like any other.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

__device__ float table[64];

__global__ void fill_table() { table[threadIdx.x] = sinf(threadIdx.x * 0.1f); }

__global__ void interpolate(const float* x, float* y) {
  const float at = x[threadIdx.x];
  const int k = static_cast<int>(at);
  const float low = table[k];
  const float high = table[k + 1];  // A
  y[threadIdx.x] = low + (at - k) * (high - low);
}

int main() {
  float values[64], *x, *y;
  for (int i = 0; i < 64; ++i) values[i] = i + 0.5f;
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&y, sizeof values);
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  fill_table<<<1, 64>>>();
  interpolate<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
