// A producer says that the buffer is full, and fills it then.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  __shared__ float buffer[32];
  const unsigned t = threadIdx.x;
  if (t < 32) {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    buffer[t] = x[t];  // B
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    y[t] = buffer[t - 32];  // A
  }
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  kernel<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
