// The lanes of a warp call one shuffle in two branches, with segments of their own: it is the same
// instruction.

#include <cuda_runtime.h>

#include <cstdio>

__global__ void sums(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  int value = lane;
  float fraction = static_cast<float>(lane);
  for (int offset = 4; offset > 0; offset /= 2) {
    if (lane < 16)
      value += __shfl_xor_sync(0xffffffffu, value, offset, 8);
    else
      value += __shfl_xor_sync(0xffffffffu, value, offset, 16);
    fraction += __shfl_down_sync(0xffffffffu, fraction, static_cast<unsigned>(offset));
    fraction += __shfl_up_sync(0xffffffffu, fraction, 1u);
  }
  out[lane] = value + static_cast<int>(fraction);
}

int main() {
  int* out = nullptr;
  cudaMalloc(&out, 32 * sizeof(int));
  sums<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(out);
}
