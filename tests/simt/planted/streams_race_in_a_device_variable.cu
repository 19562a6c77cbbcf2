// One kernel fills a variable of the device in one stream, another one reads it in a second stream, and
// nothing orders the two.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__device__ float sums[128];

__global__ void fill() { sums[threadIdx.x] = 1.0f; }  // B

__global__ void scale(float* y) { y[threadIdx.x] = 2.0f * sums[threadIdx.x]; }  // A

int main() {
  float* y;
  cudaMalloc(&y, 128 * sizeof(float));
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  fill<<<1, 128, 0, first>>>();
  scale<<<1, 128, 0, second>>>(y);
  cudaDeviceSynchronize();
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  cudaFree(y);
  return 0;
}
