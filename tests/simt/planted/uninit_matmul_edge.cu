// A tiled product skips the loads of rows beyond the matrix, and multiplies those rows of the tile
// nevertheless. Elements outside the matrix must enter the tile as zeros.
//
// expect: uninitialised_read at A
#include <cuda_runtime.h>

constexpr int kTile = 16;

// C (M, 16) = A (M, 16) * B (16, 16)
__global__ void multiply(const float* A, const float* B, float* C, int M) {
  __shared__ float A_tile[kTile][kTile], B_tile[kTile][kTile];
  const int row = threadIdx.y, col = threadIdx.x;
  if (row < M) A_tile[row][col] = A[row * kTile + col];
  B_tile[row][col] = B[row * kTile + col];
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < kTile; ++k) sum += A_tile[row][k] * B_tile[k][col];  // A
  if (row < M) C[row * kTile + col] = sum;
}

int main() {
  const int M = 10;
  float *A, *B, *C;
  cudaMalloc(&A, M * kTile * sizeof(float));
  cudaMalloc(&B, kTile * kTile * sizeof(float));
  cudaMalloc(&C, M * kTile * sizeof(float));
  cudaMemset(A, 0, M * kTile * sizeof(float));
  cudaMemset(B, 0, kTile * kTile * sizeof(float));
  multiply<<<1, dim3(kTile, kTile)>>>(A, B, C, M);
  cudaDeviceSynchronize();
  cudaFree(A);
  cudaFree(B);
  cudaFree(C);
  return 0;
}
