// A loop over the eight values of a struct takes nine steps and reads the member behind the array. An array
// inside a struct has bounds of its own, although the memory behind it belongs to the struct.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

struct Row {
  float values[8];
  float norm;
};

__global__ void normalize(Row* rows, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k <= 8; ++k) sum += rows[i].values[k] * rows[i].values[k];  // A
  rows[i].norm = sqrtf(sum);
}

int main() {
  const int n = 50;
  Row* rows;
  cudaMalloc(&rows, n * sizeof(Row));
  cudaMemset(rows, 0, n * sizeof(Row));
  normalize<<<2, 32>>>(rows, n);
  cudaDeviceSynchronize();
  cudaFree(rows);
  return 0;
}
