// Two steps of a warp's reduction are written out one below the other, without __syncwarp() between them.
// The second step reads what other lanes wrote in the first; source order is no order between lanes.
//
// expect: missing_syncwarp at A, other side B
#include <cuda_runtime.h>

// sums[i] = x[i] + x[i + 8] + x[i + 16] + x[i + 24]
__global__ void fold_twice(const int* x, int* sums) {
  __shared__ int s[32];
  const int lane = threadIdx.x;
  s[lane] = x[blockIdx.x * 32 + lane];
  __syncwarp();
  if (lane < 16) s[lane] += s[lane + 16];                             // A
  if (lane < 8) sums[blockIdx.x * 8 + lane] = s[lane] + s[lane + 8];  // B
}

int main() {
  int *x, *sums;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMalloc(&sums, 16 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  fold_twice<<<2, 32>>>(x, sums);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sums);
  return 0;
}
