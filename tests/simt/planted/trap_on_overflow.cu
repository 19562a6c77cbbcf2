// A block that finds its queue full executes __trap(). __trap() ends the launch with an error and every call
// after it fails.
//
// expect: trap at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void enqueue(const int* x, int* queue, int* size, int capacity) {
  const int value = x[threadIdx.x];
  if (value % 2 == 0) return;
  const int slot = atomicAdd(size, 1);
  if (slot >= capacity) __trap();  // A
  queue[slot] = value;
}

int main() {
  int values[32], *x, *queue, *size;
  for (int i = 0; i < 32; ++i) values[i] = i;
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&queue, 8 * sizeof(int));
  cudaMalloc(&size, sizeof(int));
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemset(size, 0, sizeof(int));
  enqueue<<<1, 32>>>(x, queue, size, 8);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(x);
  cudaFree(queue);
  cudaFree(size);
  return 0;
}
