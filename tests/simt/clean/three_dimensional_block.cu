// Looks wrong: threads with the same threadIdx.x write to shared memory, and warps wind through all three
// dimensions. It is right: the flat index of x, y and z is unique, and threads of one warp have consecutive
// flat indices.

#include <cuda_runtime.h>

__global__ void swap_axes_kernel(const int* in, int* out) {
  __shared__ int cube[4][4][5];
  const int flat = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  cube[threadIdx.z][threadIdx.y][threadIdx.x] = in[block * 80 + flat];
  __syncthreads();
  out[block * 80 + flat] = cube[threadIdx.y][threadIdx.z][4 - threadIdx.x];
}

int main() {
  constexpr int kN = 80 * 8;
  int in[kN], out[kN] = {}, *d_in, *d_out;
  for (int i = 0; i < kN; ++i) in[i] = i + 1;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  swap_axes_kernel<<<dim3(2, 2, 2), dim3(5, 4, 4)>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < kN; ++i) {
    const int base = i / 80 * 80, x = i % 5, y = i / 5 % 4, z = i / 20 % 4;
    if (out[i] != in[base + (y * 4 + z) * 5 + 4 - x]) return 1;
  }
  return 0;
}
