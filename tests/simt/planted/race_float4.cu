// One warp loads a row with 16-byte stores for four warps that read it at once, without a barrier in
// between. A vector store is a write of all its elements, and other warps may read them only after
// __syncthreads().
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void scale_by_row(const float4* row, float* y) {
  __shared__ float4 loaded[32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (warp == 4) {             // the loading warp
    loaded[lane] = row[lane];  // A
  } else {
    y[t] *= reinterpret_cast<const float*>(loaded)[t];  // B
  }
}

int main() {
  float4* row;
  float* y;
  cudaMalloc(&row, 32 * sizeof(float4));
  cudaMalloc(&y, 128 * sizeof(float));
  cudaMemset(row, 0, 32 * sizeof(float4));
  cudaMemset(y, 0, 128 * sizeof(float));
  scale_by_row<<<1, 160>>>(row, y);
  cudaDeviceSynchronize();
  cudaFree(row);
  cudaFree(y);
  return 0;
}
