// cp.async reads global memory, and is given the generic address of a shared array.
//
// expect: assertion at A
#include <cuda_runtime.h>

__global__ void shift(const int* in, int* out) {
  __shared__ int values[64], shifted[64];
  const unsigned i = threadIdx.x;
  values[i] = in[i];
  __syncthreads();
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&shifted[i]));
  const int* const from = &values[(i + 1) % 64];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");  // A
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[i] = shifted[i];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 0, 64 * sizeof(int));
  shift<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
