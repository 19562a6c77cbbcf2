// A tiled matrix product has no barrier at the end of an iteration: fast warps overwrite tiles that slow
// warps read. A tile may be filled again only when all have read it. A row of A is its warp's own, so that
// is __syncwarp()'s work.
//
// expect: missing_syncwarp at A, other side C
// expect: race at B, other side C
#include <cuda_runtime.h>

constexpr int kTile = 32;

// C (32, 32) = A (32, K) * B (K, 32)
__global__ void multiply(const float* A, const float* B, float* C, int K) {
  __shared__ float A_tile[kTile][kTile], B_tile[kTile][kTile];
  const int row = threadIdx.y, col = threadIdx.x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += kTile) {
    A_tile[row][col] = A[row * K + k0 + col];        // A
    B_tile[row][col] = B[(k0 + row) * kTile + col];  // B
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += A_tile[row][k] * B_tile[k][col];  // C
  }
  C[row * kTile + col] = sum;
}

int main() {
  const int K = 64;
  float *A, *B, *C;
  cudaMalloc(&A, kTile * K * sizeof(float));
  cudaMalloc(&B, K * kTile * sizeof(float));
  cudaMalloc(&C, kTile * kTile * sizeof(float));
  cudaMemset(A, 0, kTile * K * sizeof(float));
  cudaMemset(B, 0, K * kTile * sizeof(float));
  multiply<<<1, dim3(kTile, kTile)>>>(A, B, C, K);
  cudaDeviceSynchronize();
  cudaFree(A);
  cudaFree(B);
  cudaFree(C);
  return 0;
}
