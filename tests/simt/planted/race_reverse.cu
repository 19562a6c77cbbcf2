// A block reverses 256 values in shared memory without a barrier between the writes and the reads. What one
// thread writes to shared memory another may read only after __syncthreads().
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void reverse(const float* x, float* y) {
  __shared__ float values[256];
  const int t = threadIdx.x;
  values[t] = x[t];        // A
  y[t] = values[255 - t];  // B
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 256 * sizeof(float));
  cudaMalloc(&y, 256 * sizeof(float));
  cudaMemset(x, 0, 256 * sizeof(float));
  reverse<<<1, 256>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
