// The shuffle reduction stands inside the guard of the tail, where the last warp has eight of its lanes. The
// others have ended; reading them is undefined: load under the guard, shuffle outside of it.
//
// expect: inactive_lane at A
#include <cuda_runtime.h>

__global__ void max_warps(const int* x, int n, int* largest) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int v = x[i];
    for (int offset = 16; offset > 0; offset /= 2) v = max(v, __shfl_xor_sync(0xffffffff, v, offset));  // A
    if (i % 32 == 0) largest[i / 32] = v;
  }
}

int main() {
  const int n = 72;
  int *x, *largest;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&largest, 3 * sizeof(int));
  cudaMemset(x, 0, n * sizeof(int));
  max_warps<<<2, 64>>>(x, n, largest);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(largest);
  return 0;
}
