// The weights take the place of the keys while other warps still multiply with them. Members of a union share
// their memory: a __syncthreads() belongs between the last use of the one and the first of the other.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

struct Tile {
  float at[32][33];
};

struct Tiles {
  Tile Q;
  union {
    Tile K;
    float P[32][32];
  };
};

__device__ float scores(const Tiles& tiles, int row, int col) {
  float s = 0.0f;
  for (int d = 0; d < 32; ++d) s += tiles.Q.at[d][row] * tiles.K.at[d][col];  // A
  return s;
}

__global__ void weights(const float* q, const float* k, float* p) {
  extern __shared__ float4 shared_memory[];
  auto& smem = *reinterpret_cast<Tiles*>(shared_memory);
  const int col = threadIdx.x, row = threadIdx.y;
  smem.Q.at[col][row] = q[row * 32 + col];
  smem.K.at[col][row] = k[row * 32 + col];
  __syncthreads();
  const float s = scores(smem, row, col);
  smem.P[row][col] = expf(s);  // B
  __syncthreads();
  p[row * 32 + col] = smem.P[col][row];
}

int main() {
  float *q, *k, *p;
  for (float** array : {&q, &k, &p}) {
    cudaMalloc(array, 1024 * sizeof(float));
    cudaMemset(*array, 0, 1024 * sizeof(float));
  }
  weights<<<1, dim3(32, 32), sizeof(Tiles)>>>(q, k, p);
  cudaDeviceSynchronize();
  for (float* array : {q, k, p}) cudaFree(array);
  return 0;
}
