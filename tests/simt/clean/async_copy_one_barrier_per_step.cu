// Looks wrong: three stages are filled and read with one barrier per step, and a copy starts into a stage
// that was just read. It is right: the barrier after the wait also tells that everybody has left the stage of
// the step before, which is the one refilled.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kThreads = 32, kStages = 3, kTiles = 10;

__device__ void start_copy(int (*stages)[kThreads], const int* in, int tile) {
  if (tile < kTiles)
    __pipeline_memcpy_async(&stages[tile % kStages][threadIdx.x], &in[tile * kThreads + threadIdx.x],
                            sizeof(int));
  __pipeline_commit();  // an empty batch keeps the count
}

__global__ void weighted_sum_kernel(const int* in, int* out) {
  __shared__ int stages[kStages][kThreads];
  int sum = 0;
  for (int tile = 0; tile < kStages - 1; ++tile) start_copy(stages, in, tile);
  for (int tile = 0; tile < kTiles; ++tile) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();  // this tile has landed for all, and all have read the one before it
    start_copy(stages, in, tile + kStages - 1);
    sum += (tile + 1) * stages[tile % kStages][(threadIdx.x + tile) % kThreads];
  }
  out[threadIdx.x] = sum;
}

int main() {
  int in[kTiles * kThreads], out[kThreads] = {}, *d_in, *d_out;
  for (int i = 0; i < kTiles * kThreads; ++i) in[i] = i % 43;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  weighted_sum_kernel<<<1, kThreads>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < kThreads; ++i) {
    int expected = 0;
    for (int tile = 0; tile < kTiles; ++tile)
      expected += (tile + 1) * in[tile * kThreads + (i + tile) % kThreads];
    if (out[i] != expected) return 1;
  }
  return 0;
}
