// Looks wrong: one warp writes a tile while the others read a tile, and the two kinds meet at barriers on
// different lines of thought. It is right: they work on different halves of the buffer, and every thread
// passes the same barrier once a step.

#include <cuda_runtime.h>

constexpr int kTiles = 7, kReaders = 64;

__global__ void produce_and_consume_kernel(const int* in, int* out) {
  __shared__ int buffer[2][kReaders];
  const bool producer = threadIdx.x >= kReaders;  // the last warp
  const int lane = threadIdx.x % 32;
  int sum = 0;
  for (int step = 0; step <= kTiles; ++step) {
    if (producer && step < kTiles)
      for (int i = lane; i < kReaders; i += 32) buffer[step % 2][i] = 2 * in[step * kReaders + i];
    if (!producer && step > 0) sum += buffer[(step - 1) % 2][kReaders - 1 - threadIdx.x];
    __syncthreads();  // the tile of this step is complete, that of the step before may be overwritten
  }
  if (!producer) out[threadIdx.x] = sum;
}

int main() {
  int in[kTiles * kReaders], out[kReaders] = {}, *d_in, *d_out;
  for (int i = 0; i < kTiles * kReaders; ++i) in[i] = i % 37;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  produce_and_consume_kernel<<<1, kReaders + 32>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < kReaders; ++i) {
    int expected = 0;
    for (int tile = 0; tile < kTiles; ++tile) expected += 2 * in[tile * kReaders + kReaders - 1 - i];
    if (out[i] != expected) return 1;
  }
  return 0;
}
