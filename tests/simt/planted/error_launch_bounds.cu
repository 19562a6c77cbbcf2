// The kernel promises blocks of 128 threads, from which the compiler takes how many registers each may have,
// and is launched with 256.
//
// expect: unchecked_error at A
#include <cuda_runtime.h>

template <int kThreads>
__global__ void __launch_bounds__(kThreads, 2) clear(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 0.0f;
}

int main() {
  const int n = 1000;
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  clear<256><<<4, 256>>>(x, n);
  clear<128><<<4, 256>>>(x, n);  // A
  cudaDeviceSynchronize();
  cudaFree(x);
  return 0;
}
