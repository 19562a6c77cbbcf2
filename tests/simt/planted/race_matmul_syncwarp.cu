// A 16 x 16 tiled matrix product waits for its tiles with __syncwarp(): the rows of A are the warp's own,
// those of B not. What other warps wrote to shared memory may be read only after __syncthreads().
//
// expect: race at A, other side B
#include <cuda_runtime.h>

template <int kTile>
__global__ void multiply(const float* A, const float* B, float* C, int n) {
  __shared__ float A_tile[kTile][kTile], B_tile[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, col = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < n; k0 += kTile) {
    A_tile[threadIdx.y][threadIdx.x] = A[row * n + k0 + threadIdx.x];
    B_tile[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * n + col];  // A
    __syncwarp();
    for (int k = 0; k < kTile; ++k) {
      const float a = A_tile[threadIdx.y][k];
      sum += a * B_tile[k][threadIdx.x];  // B
    }
    __syncthreads();
  }
  C[row * n + col] = sum;
}

int main() {
  const int n = 32, bytes = n * n * sizeof(float);
  float *A, *B, *C;
  cudaMalloc(&A, bytes);
  cudaMalloc(&B, bytes);
  cudaMalloc(&C, bytes);
  cudaMemset(A, 0, bytes);
  cudaMemset(B, 0, bytes);
  multiply<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(A, B, C, n);
  cudaDeviceSynchronize();
  cudaFree(A);
  cudaFree(B);
  cudaFree(C);
  return 0;
}
