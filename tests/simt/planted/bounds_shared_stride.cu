// A flat shared tile of 8 x 32 elements is addressed with the padded stride 33. The padding must be in the
// size as well: 8 * 33 elements.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

constexpr int kStride = 33;

__global__ void shift_rows_down(const int* x, int* y) {
  __shared__ int tile[8 * 32];
  const int col = threadIdx.x, row = threadIdx.y;
  tile[row * kStride + col] = x[row * 32 + col];  // A
  __syncthreads();
  y[row * 32 + col] = row > 0 ? tile[(row - 1) * kStride + col] : 0;
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  shift_rows_down<<<1, dim3(32, 8)>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
