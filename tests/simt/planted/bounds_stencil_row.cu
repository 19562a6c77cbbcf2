// A five-point stencil checks its column and forgets that the last row has no row below it. Each neighbour's
// index must lie in the grid, in both directions.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

constexpr int kW = 32, kH = 16;

__global__ void laplace(const float* u, float* out) {
  const int col = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
  float sum = -4.0f * u[row * kW + col];
  if (col > 0) sum += u[row * kW + col - 1];
  if (col < kW - 1) sum += u[row * kW + col + 1];
  if (row > 0) sum += u[(row - 1) * kW + col];
  sum += u[(row + 1) * kW + col];  // A
  out[row * kW + col] = sum;
}

int main() {
  float *u, *out;
  cudaMalloc(&u, kW * kH * sizeof(float));
  cudaMalloc(&out, kW * kH * sizeof(float));
  cudaMemset(u, 0, kW * kH * sizeof(float));
  laplace<<<kH / 8, dim3(kW, 8)>>>(u, out);
  cudaDeviceSynchronize();
  cudaFree(u);
  cudaFree(out);
  return 0;
}
