// A block publishes a value by a relaxed store to a flag, which orders nothing.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  unsigned* const flag = reinterpret_cast<unsigned*>(y + 8);
  if (blockIdx.x == 0) {
    y[0] = 5.0f;  // B
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
  } else {
    unsigned ready = 0;
    while (ready == 0)
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(ready) : "l"(flag) : "memory");
    y[1] = y[0];  // A
  }
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  cudaMemset(y, 0, 64 * sizeof(float));
  kernel<<<2, 1>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
