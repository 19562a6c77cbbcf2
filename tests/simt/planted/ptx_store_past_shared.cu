// st.shared.v2 writes past the end of the only shared array.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  __shared__ alignas(16) float tile[64];
  const unsigned t = threadIdx.x, at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  if (t < 32)
    asm volatile("st.shared.v2.f32 [%0], {%1, %1};" ::"r"(at + 8 * t + 8), "f"(x[t]) : "memory");  // A
  __syncthreads();
  y[t] = tile[t < 2 ? 2 : t];
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
