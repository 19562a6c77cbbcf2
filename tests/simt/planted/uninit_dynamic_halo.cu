// The first block has no left neighbour to fetch its halo from, leaves the halo as it is, and reads it.
// Dynamic shared memory is not cleared either: the edge of the grid needs a value of its own.
//
// expect: uninitialised_read at A, cells[0]
#include <cuda_runtime.h>

__global__ void average_left(const float* x, float* y) {
  extern __shared__ float cells[];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  cells[t + 1] = x[i];
  if (t == 0 && i > 0) cells[0] = x[i - 1];
  __syncthreads();
  y[i] = 0.5f * (cells[t] + cells[t + 1]);  // A
}

int main() {
  const int threads = 64, n = 4 * threads;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  average_left<<<n / threads, threads, (threads + 1) * sizeof(float)>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
