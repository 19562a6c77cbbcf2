// Looks wrong: no side of the matrices is a multiple of the tile, and threads outside the result still load
// and multiply. It is right: they fill their places with zeros and take part in every barrier; only the store
// is guarded.

#include <cuda_runtime.h>

constexpr int kTile = 8, kM = 13, kN = 21, kK = 11;

__global__ void matmul_kernel(const float* A, const float* B, float* C) {
  __shared__ float A_smem[kTile][kTile], B_smem[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * kTile + y, col = blockIdx.x * kTile + x;
  float sum = 0.0f;
  for (int k = 0; k < kK; k += kTile) {
    A_smem[y][x] = row < kM && k + x < kK ? A[row * kK + k + x] : 0.0f;
    B_smem[y][x] = k + y < kK && col < kN ? B[(k + y) * kN + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += A_smem[y][i] * B_smem[i][x];
    __syncthreads();
  }
  if (row < kM && col < kN) C[row * kN + col] = sum;
}

int main() {
  float A[kM * kK], B[kK * kN], C[kM * kN] = {}, *d_A, *d_B, *d_C;
  for (int i = 0; i < kM * kK; ++i) A[i] = i % 7 - 3;
  for (int i = 0; i < kK * kN; ++i) B[i] = i % 5 - 2;
  cudaMalloc(&d_A, sizeof A);
  cudaMalloc(&d_B, sizeof B);
  cudaMalloc(&d_C, sizeof C);
  cudaMemcpy(d_A, A, sizeof A, cudaMemcpyHostToDevice);
  cudaMemcpy(d_B, B, sizeof B, cudaMemcpyHostToDevice);
  matmul_kernel<<<dim3((kN + kTile - 1) / kTile, (kM + kTile - 1) / kTile), dim3(kTile, kTile)>>>(d_A, d_B,
                                                                                                  d_C);
  cudaMemcpy(C, d_C, sizeof C, cudaMemcpyDeviceToHost);
  cudaFree(d_A);
  cudaFree(d_B);
  cudaFree(d_C);
  for (int i = 0; i < kM * kN; ++i) {
    float expected = 0.0f;  // small integers: exact in any order
    for (int k = 0; k < kK; ++k) expected += A[i / kN * kK + k] * B[k * kN + i % kN];
    if (C[i] != expected) return 1;
  }
  return 0;
}
