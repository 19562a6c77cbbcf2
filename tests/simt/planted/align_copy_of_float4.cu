// The stages of a pipeline take float4, which promises multiples of 16: the source begins one float further
// on.
//
// expect: assertion at A
#include <cuda_runtime.h>

#include <cuda/pipeline>

__global__ void copy(const float* x, float* y) {
  __shared__ float4 tile[32];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  const auto* const fours = reinterpret_cast<const float4*>(x + 1);
  cuda::memcpy_async(&tile[threadIdx.x], &fours[threadIdx.x], sizeof(float4), pipe);  // A
  pipe.producer_commit();
  pipe.consumer_wait();
  y[threadIdx.x] = tile[threadIdx.x].x;
  pipe.consumer_release();
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 132 * sizeof(float));
  cudaMalloc(&y, 32 * sizeof(float));
  cudaMemset(x, 0, 132 * sizeof(float));
  copy<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
