// Lanes past the end shuffle another way than those that still add: each waits for the other, on a GPU.
// expect: divergent_instruction at A

#include <cuda_runtime.h>

#include <cstdio>

__global__ void sum_of_first(const int* in, int* out) {
  int value = in[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) {
    if (threadIdx.x < offset)
      value += __shfl_down_sync(0xffffffffu, value, offset);
    else
      __shfl_xor_sync(0xffffffffu, value, offset);  // A
  }
  if (threadIdx.x == 0) *out = value;
}

int main() {
  int *in = nullptr, *out = nullptr;
  cudaMalloc(&in, 32 * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(in, 0, 32 * sizeof(int));
  sum_of_first<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(in);
  cudaFree(out);
}
