// A reduction sized for 128 threads is launched with 64, so the upper half of its array is never written. A
// barrier makes writes visible; it does not make values where nobody wrote.
//
// expect: uninitialised_read at A, s[64]
#include <cuda_runtime.h>

template <int kThreads>
__global__ void max_blocks(const float* x, float* largest) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x;
  s[t] = x[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) s[t] = fmaxf(s[t], s[t + half]);  // A
    __syncthreads();
  }
  if (t == 0) largest[blockIdx.x] = s[0];
}

int main() {
  float *x, *largest;
  cudaMalloc(&x, 128 * sizeof(float));
  cudaMalloc(&largest, 2 * sizeof(float));
  cudaMemset(x, 0, 128 * sizeof(float));
  max_blocks<128><<<2, 64>>>(x, largest);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(largest);
  return 0;
}
