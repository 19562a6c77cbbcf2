// Looks wrong: a tile is read while the copy of the next one is still in flight.
// It is right: the wait leaves only the newest batch open, a barrier makes the tile visible, and another ends
// its use.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kThreads = 64, kTiles = 6;

__global__ void sum_tiles_kernel(const int* in, int* out) {
  __shared__ int tile[2][kThreads];
  const int thread = threadIdx.x;
  int sum = 0;
  __pipeline_memcpy_async(&tile[0][thread], &in[thread], sizeof(int));
  __pipeline_commit();
  for (int step = 0; step < kTiles; ++step) {
    if (step + 1 < kTiles)
      __pipeline_memcpy_async(&tile[(step + 1) % 2][thread], &in[(step + 1) * kThreads + thread],
                              sizeof(int));
    __pipeline_commit();       // empty in the last step, so that the wait below needs no case of its own
    __pipeline_wait_prior(1);  // one's own part of this tile has landed
    __syncthreads();           // so has everybody's
    sum += tile[step % 2][kThreads - 1 - thread];
    __syncthreads();  // everybody has read: the next copy may land in this tile
  }
  out[thread] = sum;
}

int main() {
  int in[kTiles * kThreads], out[kThreads] = {}, *d_in, *d_out;
  for (int i = 0; i < kTiles * kThreads; ++i) in[i] = i % 89;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  sum_tiles_kernel<<<1, kThreads>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < kThreads; ++i) {
    int expected = 0;
    for (int step = 0; step < kTiles; ++step) expected += in[step * kThreads + kThreads - 1 - i];
    if (out[i] != expected) return 1;
  }
  return 0;
}
