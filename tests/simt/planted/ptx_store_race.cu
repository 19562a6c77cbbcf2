// st.shared and ld.shared of other threads, without a barrier between.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x, at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  float value;
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(at + 4 * t), "f"(x[t]) : "memory");            // B
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(at + 4 * (63 - t)) : "memory");  // A
  y[t] = value;
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
