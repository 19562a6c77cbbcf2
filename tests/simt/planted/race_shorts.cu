// A vertical edge filter on 16-bit pixels reads the row above from shared memory without a barrier. Each row
// belongs to another warp, so __syncthreads() must stand between filling the tile and reading it.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void vertical_edges(const short* image, short* edges) {
  __shared__ short tile[8][32];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = image[y * 32 + x];  // A
  short edge = 0;
  if (y > 0) edge = image[y * 32 + x] - tile[y - 1][x];  // B
  edges[y * 32 + x] = edge;
}

int main() {
  short *image, *edges;
  cudaMalloc(&image, 256 * sizeof(short));
  cudaMalloc(&edges, 256 * sizeof(short));
  cudaMemset(image, 7, 256 * sizeof(short));
  vertical_edges<<<1, dim3(32, 8)>>>(image, edges);
  cudaDeviceSynchronize();
  cudaFree(image);
  cudaFree(edges);
  return 0;
}
