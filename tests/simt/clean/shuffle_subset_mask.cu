// Looks wrong: only 24 of the 32 lanes shuffle.
// It is right: the mask names those 24, all of them come, and each reads a lane of the mask.

#include <cuda_runtime.h>

__global__ void rotate_kernel(const int* in, int* out) {
  const int lane = threadIdx.x;
  int value = in[lane];
  if (lane < 24) value = __shfl_sync(0x00ffffffu, value, (lane + 1) % 24);
  out[lane] = value;
}

int main() {
  int in[32], out[32] = {}, *d_in, *d_out;
  for (int i = 0; i < 32; ++i) in[i] = 3 * i + 1;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  rotate_kernel<<<1, 32>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int lane = 0; lane < 32; ++lane)
    if (out[lane] != in[lane < 24 ? (lane + 1) % 24 : lane]) return 1;
  return 0;
}
