// A matrix of 8 x 30 is allocated without padding and filled with a row stride of 32. Index arithmetic must
// use the stride with which the memory was allocated.
//
// expect: out_of_bounds at A, m[240]
#include <cuda_runtime.h>

__global__ void fill(int* m, int stride, int cols) {
  const int col = threadIdx.x, row = threadIdx.y;
  if (col < cols) m[row * stride + col] = row - col;  // A
}

int main() {
  const int rows = 8, cols = 30, stride = 32;
  int* m;
  cudaMalloc(&m, rows * cols * sizeof(int));
  fill<<<1, dim3(32, rows)>>>(m, stride, cols);
  cudaDeviceSynchronize();
  cudaFree(m);
  return 0;
}
