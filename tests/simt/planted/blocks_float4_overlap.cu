// A block fills its row with 16-byte stores, and rows of 30 floats end in the middle of such a store. A
// store of a float4 writes all four elements; those of the next row belong to another block.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void fill_rows(float4* x4, int row_length) {
  const int first = blockIdx.x * row_length, t = threadIdx.x;
  float* row = reinterpret_cast<float*>(x4) + first;
  if (blockIdx.x % 2 == 0) {
    if (t < (row_length + 3) / 4) x4[first / 4 + t] = make_float4(1.0f, 1.0f, 1.0f, 1.0f);  // A
  } else {
    if (t < row_length) row[t] = 2.0f;  // B
  }
}

int main() {
  const int rows = 2, row_length = 30;
  float4* x4;
  cudaMalloc(&x4, rows * row_length * sizeof(float));
  fill_rows<<<rows, 32>>>(x4, row_length);
  cudaDeviceSynchronize();
  cudaFree(x4);
  return 0;
}
