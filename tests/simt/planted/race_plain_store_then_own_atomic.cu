// Each thread of a warp stores zeros plainly and adds atomically to them; another warp adds, too, and nothing
// orders it with the plain stores. The thread's own atomic does not change that.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void add(int* y) {
  __shared__ int sums[32];
  const int t = threadIdx.x;
  if (t < 32) {
    sums[t] = 0;  // B
    atomicAdd(&sums[t], 1);
  } else {
    atomicAdd(&sums[t - 32], 2);  // A
  }
  __syncthreads();
  if (t < 32) y[t] = sums[t];
}

int main() {
  int* y;
  cudaMalloc(&y, 32 * sizeof(int));
  add<<<1, 64>>>(y);
  cudaDeviceSynchronize();
  cudaFree(y);
  return 0;
}
