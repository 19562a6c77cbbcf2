// A block smooths a column of cells in place, with a barrier between the steps but none between reading and
// writing. Read, __syncthreads(), write, __syncthreads(): a neighbour's old value must be read before it is
// replaced.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void relax(float* u, int rows, int steps) {  // u (rows, 32), one warp for each inner row
  const int col = threadIdx.x, row = threadIdx.y + 1;
  for (int step = 0; step < steps; ++step) {
    const float around = u[(row - 1) * 32 + col] + u[(row + 1) * 32 + col];  // B
    u[row * 32 + col] = 0.5f * around;                                       // A
    __syncthreads();
  }
}

int main() {
  const int rows = 10, bytes = rows * 32 * sizeof(float);
  float* u;
  cudaMalloc(&u, bytes);
  cudaMemset(u, 0, bytes);
  relax<<<1, dim3(32, rows - 2)>>>(u, rows, 3);
  cudaDeviceSynchronize();
  cudaFree(u);
  return 0;
}
