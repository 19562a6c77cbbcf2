// The lower half of a pointer is taken for the address of shared memory.
//
// expect: illegal_address at A
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  __shared__ float tile[32];
  const unsigned t = threadIdx.x, at = static_cast<unsigned>(reinterpret_cast<unsigned long long>(&tile[t]));
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(x[t]) : "memory");  // A
  y[t] = tile[t];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  kernel<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
