// Threads outside the image return, although the block has a tile to fill and a barrier to pass. In a
// 16-wide block a warp holds two rows, so its lanes beyond the border leave the others at the barrier.
//
// expect: exited_threads at A
#include <cuda_runtime.h>

__global__ void flip_tiles(const unsigned char* in, unsigned char* out, int width, int height) {
  __shared__ unsigned char tile[16][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= width || y >= height) return;
  tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();  // A
  out[y * width + x] = tile[15 - threadIdx.y][threadIdx.x];
}

int main() {
  const int width = 24, height = 32;
  unsigned char *in, *out;
  cudaMalloc(&in, width * height);
  cudaMalloc(&out, width * height);
  cudaMemset(in, 0, width * height);
  flip_tiles<<<dim3(2, 2), dim3(16, 16)>>>(in, out, width, height);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
