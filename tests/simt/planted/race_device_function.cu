// block_sum() is called twice, and the second call overwrites partial sums that slower warps of the first
// still read. Shared memory of a device function is the same in every call; __syncwarp() at its start orders
// one warp only.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  return v;
}

__device__ float block_sum(float v) {
  __shared__ float partial[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  v = warp_sum(v);
  __syncwarp();                      // as if that let all warps finish the call before
  if (lane == 0) partial[warp] = v;  // A
  __syncthreads();
  return warp_sum(lane < warps ? partial[lane] : 0.0f);  // B
}

// Layer norm of one row for each block.
__global__ void normalize(const float* x, float* y, int n) {
  const float v = x[blockIdx.x * n + threadIdx.x];
  const float mean = block_sum(v) / n;
  const float variance = block_sum((v - mean) * (v - mean)) / n;
  y[blockIdx.x * n + threadIdx.x] = (v - mean) * rsqrtf(variance + 1e-5f);
}

int main() {
  const int rows = 2, n = 256;
  float *x, *y;
  cudaMalloc(&x, rows * n * sizeof(float));
  cudaMalloc(&y, rows * n * sizeof(float));
  cudaMemset(x, 0, rows * n * sizeof(float));
  normalize<<<rows, n>>>(x, y, n);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
