// A copy by pointers to float4 moves whole float4s on a GPU, and this one is told to move five floats.
//
// expect: assertion at A
#include <cuda_runtime.h>

#include <cuda/pipeline>

__global__ void copy(const float4* x, float* y) {
  __shared__ float4 tile[2];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(tile, x, 5 * sizeof(float), pipe);  // A
  pipe.producer_commit();
  pipe.consumer_wait();
  y[threadIdx.x] = tile[1].x;
  pipe.consumer_release();
}

int main() {
  float4* x;
  float* y;
  cudaMalloc(&x, 2 * sizeof(float4));
  cudaMalloc(&y, sizeof(float));
  cudaMemset(x, 0, 2 * sizeof(float4));
  copy<<<1, 1>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
