// A reduction template lets its first warp collect the warps' results without waiting for them. Results of
// other warps may be read from shared memory only after __syncthreads().
//
// expect: race at A, other side B
#include <cuda_runtime.h>

#include <cmath>

struct Max {
  static __device__ float identity() { return -INFINITY; }
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <int kThreads, class Op>
__global__ void reduce(const float* x, float* result, Op op) {
  constexpr int kWarps = kThreads / 32;
  __shared__ float of_warp[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = x[blockIdx.x * kThreads + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) v = op(v, __shfl_xor_sync(0xffffffff, v, offset));
  if (lane == 0) of_warp[warp] = v;  // A
  if (warp > 0) return;
  v = lane < kWarps ? of_warp[lane] : Op::identity();  // B
  for (int offset = 16; offset > 0; offset /= 2) v = op(v, __shfl_xor_sync(0xffffffff, v, offset));
  if (lane == 0) result[blockIdx.x] = v;
}

int main() {
  float *x, *result;
  cudaMalloc(&x, 512 * sizeof(float));
  cudaMalloc(&result, 2 * sizeof(float));
  cudaMemset(x, 0, 512 * sizeof(float));
  reduce<256><<<2, 256>>>(x, result, Max());
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(result);
  return 0;
}
