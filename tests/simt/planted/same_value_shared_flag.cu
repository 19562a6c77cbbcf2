// All threads of a block that see a negative value set the same shared flag. Writing the same value to one
// element without order is harmless but unordered; __syncthreads_or() is made for it.
//
// expect: same_value_write at A, other side A, any_negative
#include <cuda_runtime.h>

__global__ void clamp_rows(float* x) {
  __shared__ bool any_negative;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) any_negative = false;
  __syncthreads();
  if (x[i] < 0.0f) any_negative = true;  // A
  __syncthreads();
  if (any_negative) x[i] = fmaxf(x[i], 0.0f);
}

int main() {
  float values[128], *x;
  for (int i = 0; i < 128; ++i) values[i] = i % 40 == 13 ? -1.0f : 1.0f;
  cudaMalloc(&x, sizeof values);
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  clamp_rows<<<1, 128>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
  return 0;
}
