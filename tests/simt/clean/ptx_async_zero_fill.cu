// The tail of a copy is filled with zeros by src-size: nothing past the end is read.
//
// With src-size 0 the source address itself does not matter.
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  __shared__ alignas(16) float tile[64];
  const unsigned t = threadIdx.x, to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[4 * t]));
  const int left = 4 * (62 - 4 * static_cast<int>(t)), bytes = left < 0 ? 0 : left < 16 ? left : 16;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(&x[4 * t]), "r"(bytes)
               : "memory");
  asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  y[t] = tile[63 - t] + tile[t];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 62 * sizeof(float));
  cudaMalloc(&y, 16 * sizeof(float));
  cudaMemset(x, 0, 62 * sizeof(float));
  kernel<<<1, 16>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
