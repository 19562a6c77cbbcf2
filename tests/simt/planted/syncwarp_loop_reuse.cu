// Each warp reuses its row buffer in a loop with a __syncwarp() after the store but none after the loads. A
// lane may overwrite the buffer only when the others have read it: two __syncwarp() for each round.
//
// expect: missing_syncwarp at A, other side B
#include <cuda_runtime.h>

__global__ void reverse_rows(const float* x, float* y, int rows) {
  __shared__ float row_buffer[2][32];
  const int lane = threadIdx.x, warp = threadIdx.y;
  for (int row = warp; row < rows; row += 2) {
    row_buffer[warp][lane] = x[row * 32 + lane];  // A
    __syncwarp();
    y[row * 32 + lane] = row_buffer[warp][31 - lane];  // B
  }
}

int main() {
  const int rows = 6, bytes = rows * 32 * sizeof(float);
  float *x, *y;
  cudaMalloc(&x, bytes);
  cudaMalloc(&y, bytes);
  cudaMemset(x, 0, bytes);
  reverse_rows<<<1, dim3(32, 2)>>>(x, y, rows);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
