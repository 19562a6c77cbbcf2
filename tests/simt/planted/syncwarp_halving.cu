// A warp finds its largest value in shared memory, with half as many lanes each step and nothing between the
// steps. The lanes of a warp are ordered by __syncwarp() only, not by the loop that they share.
//
// expect: missing_syncwarp at A, other side A
#include <cuda_runtime.h>

// One warp for each row of 32 columns.
__global__ void row_max(const float* x, float* largest) {
  __shared__ float rows[4][32];
  const int lane = threadIdx.x, warp = threadIdx.y, row = blockIdx.x * 4 + warp;
  rows[warp][lane] = x[row * 32 + lane];
  __syncwarp();
  for (int half = 16; half > 0; half /= 2)
    if (lane < half) rows[warp][lane] = fmaxf(rows[warp][lane], rows[warp][lane + half]);  // A
  if (lane == 0) largest[row] = rows[warp][0];
}

int main() {
  float *x, *largest;
  cudaMalloc(&x, 8 * 32 * sizeof(float));
  cudaMalloc(&largest, 8 * sizeof(float));
  cudaMemset(x, 0, 8 * 32 * sizeof(float));
  row_max<<<2, dim3(32, 4)>>>(x, largest);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(largest);
  return 0;
}
