// The launch asks for the bytes of one tile, and the kernel keeps two there. Dynamic shared memory needs the
// size of the struct that lies in it.
//
// expect: out_of_bounds at A, smem.V.at[0][0]
// expect: out_of_bounds at B, smem.V.at[7][0]
#include <cuda_runtime.h>

struct Tile {
  float at[8][32];
};

struct Tiles {
  Tile K, V;
};

__global__ void product(const float* k, const float* v, float* y) {
  extern __shared__ Tile memory[];
  Tiles& smem = *reinterpret_cast<Tiles*>(memory);
  const int lane = threadIdx.x, row = threadIdx.y;
  smem.K.at[row][lane] = k[row * 32 + lane];
  smem.V.at[row][lane] = v[row * 32 + lane];  // A
  __syncthreads();
  y[row * 32 + lane] = smem.K.at[7 - row][lane] * smem.V.at[7 - row][lane];  // B
}

int main() {
  float *k, *v, *y;
  for (float** array : {&k, &v, &y}) {
    cudaMalloc(array, sizeof(Tile));
    cudaMemset(*array, 0, sizeof(Tile));
  }
  product<<<1, dim3(32, 8), sizeof(Tile)>>>(k, v, y);
  cudaDeviceSynchronize();
  for (float* array : {k, v, y}) cudaFree(array);
  return 0;
}
