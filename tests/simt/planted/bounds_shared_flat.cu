// A 16 x 16 tile is filled through its first row with a flat index up to 255. tile[0] has 16 elements,
// whatever follows it in memory: flat access needs a pointer to the whole tile.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

__global__ void transpose(const float* x, float* y) {
  __shared__ float tile[16][16];
  const int flat = threadIdx.y * 16 + threadIdx.x;
  tile[0][flat] = x[flat];  // A
  __syncthreads();
  y[flat] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 256 * sizeof(float));
  cudaMalloc(&y, 256 * sizeof(float));
  cudaMemset(x, 0, 256 * sizeof(float));
  transpose<<<1, dim3(16, 16)>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
