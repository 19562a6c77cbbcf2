// Looks wrong: a tile is overwritten two steps after it was read, with a single barrier in each step.
// It is right: two buffers alternate, so the barrier of the step between keeps the readers and the next
// writers apart.

#include <cuda_runtime.h>

constexpr int kThreads = 64, kTiles = 9;

__global__ void sum_of_neighbours_kernel(const int* in, int* out) {
  __shared__ int tile[2][kThreads];
  int sum = 0;
  for (int step = 0; step < kTiles; ++step) {
    tile[step % 2][threadIdx.x] = in[step * kThreads + threadIdx.x];
    __syncthreads();  // this tile is complete, and nobody reads the other one any more
    sum += tile[step % 2][(threadIdx.x + 37) % kThreads];
  }
  out[threadIdx.x] = sum;
}

int main() {
  int in[kTiles * kThreads], out[kThreads] = {}, *d_in, *d_out;
  for (int i = 0; i < kTiles * kThreads; ++i) in[i] = i % 97;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  sum_of_neighbours_kernel<<<1, kThreads>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < kThreads; ++i) {
    int expected = 0;
    for (int step = 0; step < kTiles; ++step) expected += in[step * kThreads + (i + 37) % kThreads];
    if (out[i] != expected) return 1;
  }
  return 0;
}
