// The tile has 16 rows, and the last block fills only those that the matrix has left. What is not there must
// be stored as zeros before all 16 are added up.
//
// expect: uninitialised_read at A, smem->rows[8][0]
#include <cuda_runtime.h>

struct Shared {
  float weights[16];
  float rows[16][32];
};

__device__ float weighted(const Shared* shared, int column) {
  float sum = 0.0f;
  for (int row = 0; row < 16; ++row) sum += shared->weights[row] * shared->rows[row][column];  // A
  return sum;
}

__global__ void add_rows(const float* x, int rows, float* y) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto* smem = reinterpret_cast<Shared*>(bytes);
  const int column = threadIdx.x, first = blockIdx.x * 16;
  if (column < 16) smem->weights[column] = 1.0f / (1 + column);
  for (int row = 0; row < 16 && first + row < rows; ++row)
    smem->rows[row][column] = x[(first + row) * 32 + column];
  __syncthreads();
  y[blockIdx.x * 32 + column] = weighted(smem, column);
}

int main() {
  const int rows = 24;
  float *x, *y;
  cudaMalloc(&x, rows * 32 * sizeof(float));
  cudaMalloc(&y, 2 * 32 * sizeof(float));
  cudaMemset(x, 0, rows * 32 * sizeof(float));
  add_rows<<<2, 32, sizeof(Shared)>>>(x, rows, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
