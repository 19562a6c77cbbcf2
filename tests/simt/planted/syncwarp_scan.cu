// A warp's inclusive scan in shared memory reads and writes without __syncwarp() between the two. A lane's
// element must be read by its neighbour before it is changed, and changed before the next step reads it.
//
// expect: missing_syncwarp at A, other side B
#include <cuda_runtime.h>

__global__ void scan_warps(const int* x, int* y) {
  __shared__ int sums[32];
  const int lane = threadIdx.x;
  int sum = x[blockIdx.x * 32 + lane];
  sums[lane] = sum;
  __syncwarp();
  for (int offset = 1; offset < 32; offset *= 2) {
    if (lane >= offset) sum += sums[lane - offset];  // B
    sums[lane] = sum;                                // A
    __syncwarp();
  }
  y[blockIdx.x * 32 + lane] = sum;
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMalloc(&y, 64 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  scan_warps<<<2, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
