// A tile with one halo column is read two columns to the right, where the next row of the tile begins. The
// address is inside the tile and the column is not: each index must stay within its own extent.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

__global__ void slope(const float* x, float* y, int pitch) {
  __shared__ float tile[8][33];
  const int col = threadIdx.x, row = threadIdx.y;
  tile[row][col] = x[row * pitch + col];
  if (col == 0) tile[row][32] = x[row * pitch + 32];
  __syncthreads();
  y[row * 32 + col] = tile[row][col + 2] - tile[row][col];  // A
}

int main() {
  const int pitch = 33;
  float *x, *y;
  cudaMalloc(&x, 8 * pitch * sizeof(float));
  cudaMalloc(&y, 8 * 32 * sizeof(float));
  cudaMemset(x, 0, 8 * pitch * sizeof(float));
  slope<<<1, dim3(32, 8)>>>(x, y, pitch);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
