// Eight warps transpose a tile and wait with __syncwarp() where the tile's columns come from all warps.
// __syncwarp() orders the lanes of one warp only; between warps it takes __syncthreads().
//
// expect: race at A, other side B
#include <cuda_runtime.h>

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(const int* in, int* out, int n) {
  __shared__ int tile[kTile][kTile + 1];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];  // A
  __syncwarp();
  const int out_x = blockIdx.y * kTile + threadIdx.x, out_y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    out[(out_y + j) * n + out_x] = tile[threadIdx.x][threadIdx.y + j];  // B
}

int main() {
  const int n = 64;
  int *in, *out;
  cudaMalloc(&in, n * n * sizeof(int));
  cudaMalloc(&out, n * n * sizeof(int));
  cudaMemset(in, 0, n * n * sizeof(int));
  transpose<<<dim3(n / kTile, n / kTile), dim3(kTile, kRows)>>>(in, out, n);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
