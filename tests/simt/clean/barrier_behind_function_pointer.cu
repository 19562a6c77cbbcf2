// Looks wrong: the barrier hides in functions that are called through a pointer and in a lambda, from
// different lines. It is right: which function is called depends on the block alone, so its threads meet at
// the same call.

#include <cuda_runtime.h>

using Exchange = int (*)(int*, int);

__device__ int mirror(int* values, int value) {
  values[threadIdx.x] = value;
  __syncthreads();
  return values[blockDim.x - 1 - threadIdx.x];
}
__device__ int rotate(int* values, int value) {
  values[threadIdx.x] = value;
  __syncthreads();
  return values[(threadIdx.x + 1) % blockDim.x];
}
__device__ const Exchange kExchanges[2] = {mirror, rotate};

__global__ void exchange_kernel(int* data) {
  __shared__ int values[64];
  const auto twice = [](Exchange exchange, int value) {
    value = exchange(values, value);
    __syncthreads();  // all have read before the second round overwrites
    return exchange(values, value);
  };
  int& mine = data[blockIdx.x * blockDim.x + threadIdx.x];
  mine = twice(kExchanges[blockIdx.x % 2], mine);
}

int main() {
  int data[192], *d_data;
  for (int i = 0; i < 192; ++i) data[i] = i;
  cudaMalloc(&d_data, sizeof data);
  cudaMemcpy(d_data, data, sizeof data, cudaMemcpyHostToDevice);
  exchange_kernel<<<3, 64>>>(d_data);
  cudaMemcpy(data, d_data, sizeof data, cudaMemcpyDeviceToHost);
  cudaFree(d_data);
  for (int i = 0; i < 192; ++i)
    if (data[i] != (i / 64 % 2 == 0 ? i : i / 64 * 64 + (i + 2) % 64)) return 1;
  return 0;
}
