// The upper warp waits for a flag in shared memory that nobody has set to zero. As the block runs here, the
// lower warp sets it first; on a GPU, the flag may hold what an earlier block left.
//
// expect: uninitialised_read at A, other side B
#include <cuda_runtime.h>

__global__ void hand_over(const int* x, int* y) {
  __shared__ int value[32], flag;
  const int t = threadIdx.x;
  if (t < 32) {
    value[t] = x[t];
    __syncwarp();
    __threadfence_block();
    if (t == 0) atomicExch(&flag, 1);  // B
  } else {
    while (atomicAdd(&flag, 0) != 1) {  // A
    }
    __threadfence_block();
    y[t - 32] = value[t - 32];
  }
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMalloc(&y, 32 * sizeof(int));
  cudaMemset(x, 0, 32 * sizeof(int));
  hand_over<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
