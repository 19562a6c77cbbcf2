// A block publishes a value by a release store that another block acquires.
//
// Right: that orders what lies before the one and behind the other.
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  unsigned* const flag = reinterpret_cast<unsigned*>(y + 8);
  if (blockIdx.x == 0) {
    y[0] = 5.0f;
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
  } else {
    unsigned ready = 0;
    while (ready == 0)
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(ready) : "l"(flag) : "memory");
    y[1] = y[0];
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
