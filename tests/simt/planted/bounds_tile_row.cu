// A row of the tile has 32 numbers, and the loop over its neighbour on the right goes on to number 32, which
// lies in the row below. An array inside a struct has bounds of its own.
//
// expect: out_of_bounds at A, smem.K.at[..][32]
#include <cuda_runtime.h>

struct Tile {
  float at[8][32];
};

struct Tiles {
  Tile K, V;
};

__global__ void smooth(const float* k, float* y) {
  extern __shared__ float4 memory[];
  Tiles& smem = *reinterpret_cast<Tiles*>(memory);
  const int lane = threadIdx.x, row = threadIdx.y;
  smem.K.at[row][lane] = smem.V.at[row][lane] = k[row * 32 + lane];
  __syncthreads();
  float sum = smem.V.at[row][lane];
  if (row < 7) sum += smem.K.at[row][lane + 1];  // A
  y[row * 32 + lane] = sum;
}

int main() {
  float *k, *y;
  for (float** array : {&k, &y}) {
    cudaMalloc(array, sizeof(Tile));
    cudaMemset(*array, 0, sizeof(Tile));
  }
  smooth<<<1, dim3(32, 8), sizeof(Tiles)>>>(k, y);
  cudaDeviceSynchronize();
  for (float* array : {k, y}) cudaFree(array);
  return 0;
}
