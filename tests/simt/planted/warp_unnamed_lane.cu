// The lower half of a warp shuffles among itself with a mask of 16 lanes and an offset that reaches beyond
// them. The source of a shuffle must be one of the lanes named in the mask.
//
// expect: inactive_lane at A
#include <cuda_runtime.h>

__global__ void shifted_difference(const float* x, float* y) {
  const int lane = threadIdx.x;
  const float v = x[lane];
  if (lane < 16) {
    const float ahead = __shfl_down_sync(0x0000ffff, v, 4);  // A
    y[lane] = ahead - v;
  } else {
    y[lane] = v;
  }
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMalloc(&y, 32 * sizeof(float));
  cudaMemset(x, 0, 32 * sizeof(float));
  shifted_difference<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
