// Floats are carved out of dynamic shared memory behind 50 flags of one byte each. What is carved behind
// another array must be aligned for its own type.
//
// expect: misaligned at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void keep_flagged(const float* x, float* y) {
  extern __shared__ unsigned char smem[];
  const int t = threadIdx.x, n = blockDim.x;
  unsigned char* flags = smem;
  float* values = reinterpret_cast<float*>(smem + n);
  flags[t] = t % 3 == 0;
  values[t] = x[t];  // A
  __syncthreads();
  y[t] = flags[n - 1 - t] ? values[n - 1 - t] : 0.0f;
}

int main() {
  const int n = 50;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  keep_flagged<<<1, n, n*(1 + sizeof(float))>>>(x, y);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(x);
  cudaFree(y);
  return 0;
}
