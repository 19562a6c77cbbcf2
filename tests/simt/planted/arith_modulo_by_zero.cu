// A flat index is split into row and column by a width that the host never set. % by zero is undefined like
// / by zero.
//
// expect: division_by_zero at A
#include <cuda_runtime.h>

#include <cstdio>

struct Shape {
  int rows, cols;
};

__global__ void column_numbers(Shape shape, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i % shape.cols;  // A
}

int main() {
  Shape shape = {};
  int* out;
  shape.rows = 64;
  cudaMalloc(&out, 64 * sizeof(int));
  column_numbers<<<2, 32>>>(shape, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(out);
  return 0;
}
