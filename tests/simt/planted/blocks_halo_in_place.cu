// A stencil updates its array in place: a block's halo is a neighbour's cell, which that block overwrites.
// No barrier reaches beyond a block; the new values belong in a second array, or the steps in launches of
// their own.
//
// expect: race at A, other side B
// expect: race at A, other side C
#include <cuda_runtime.h>

__global__ void diffuse(float* u, int n) {
  __shared__ float cells[64 + 2];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  cells[t + 1] = u[i];
  if (t == 0) cells[0] = i > 0 ? u[i - 1] : 0.0f;        // B
  if (t == 63) cells[65] = i + 1 < n ? u[i + 1] : 0.0f;  // C
  __syncthreads();
  u[i] = 0.25f * cells[t] + 0.5f * cells[t + 1] + 0.25f * cells[t + 2];  // A
}

int main() {
  const int n = 256;
  float* u;
  cudaMalloc(&u, n * sizeof(float));
  cudaMemset(u, 0, n * sizeof(float));
  diffuse<<<n / 64, 64>>>(u, n);
  cudaDeviceSynchronize();
  cudaFree(u);
  return 0;
}
