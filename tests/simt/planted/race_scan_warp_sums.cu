// A block scan adds the sums of the warps before it without waiting until they are there. __shfl_up_sync()
// keeps a warp together, not a block: __syncthreads() must follow the store of the warp sums.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void inclusive_scan(const int* x, int* y) {
  __shared__ int warp_sums[4];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int sum = x[blockIdx.x * 128 + t];
  for (int offset = 1; offset < 32; offset *= 2) {
    const int left = __shfl_up_sync(0xffffffff, sum, offset);
    if (lane >= offset) sum += left;
  }
  if (lane == 31) warp_sums[warp] = sum;               // A
  for (int w = 0; w < warp; ++w) sum += warp_sums[w];  // B
  y[blockIdx.x * 128 + t] = sum;
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 1, 256 * sizeof(int));
  inclusive_scan<<<2, 128>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
