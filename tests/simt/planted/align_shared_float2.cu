// Rows of a padded shared tile have 33 floats, and a kernel reads them as float2. An access of 8 bytes needs
// an address that is a multiple of 8: every second row starts between two.
//
// expect: misaligned at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void sum_pairs(const float* x, float* sums) {
  __shared__ __align__(16) float tile[4][33];
  const int lane = threadIdx.x, row = threadIdx.y;
  tile[row][lane] = x[row * 32 + lane];
  __syncthreads();
  if (lane < 16) {
    const float2 pair = reinterpret_cast<const float2*>(tile[row])[lane];  // A
    sums[row * 16 + lane] = pair.x + pair.y;
  }
}

int main() {
  float *x, *sums;
  cudaMalloc(&x, 128 * sizeof(float));
  cudaMalloc(&sums, 64 * sizeof(float));
  cudaMemset(x, 0, 128 * sizeof(float));
  sum_pairs<<<1, dim3(32, 4)>>>(x, sums);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(x);
  cudaFree(sums);
  return 0;
}
