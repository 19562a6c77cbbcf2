// The first warp waits at a barrier of its own while the second waits at the barrier behind the branch. A
// condition that depends on the thread must not enclose __syncthreads(); use __syncwarp() within a warp.
//
// expect: divergent_barrier at A, other side B
#include <cuda_runtime.h>

__global__ void center(const float* x, float* y) {
  __shared__ float mean;
  const int t = threadIdx.x;
  if (t < 32) {
    float sum = x[t] + x[t + 32];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (t == 0) mean = sum / 64.0f;
    __syncthreads();  // A
  }
  const float mine = 2.0f * x[t];
  __syncthreads();  // B
  y[t] = mine - mean;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  center<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
