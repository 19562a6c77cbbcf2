// A copy promises that its addresses are multiples of 16, and its source begins one float further on.
//
// expect: assertion at A
#include <cuda_runtime.h>

#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void copy(const float* x, float* y) {
  __shared__ alignas(16) float tile[128];
  __shared__ Barrier landed;
  if (threadIdx.x == 0) init(&landed, blockDim.x);
  __syncthreads();
  const int i = 4 * threadIdx.x;
  cuda::memcpy_async(tile + i, x + i, cuda::aligned_size_t<16>(16), landed);  // A
  landed.arrive_and_wait();
  y[threadIdx.x] = tile[i];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 132 * sizeof(float));
  cudaMalloc(&y, 32 * sizeof(float));
  cudaMemset(x, 0, 132 * sizeof(float));
  copy<<<1, 32>>>(x + 1, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
