// Looks wrong: all blocks change the same plain variables.
// It is right: they do so inside a lock, with a fence after it is taken and another before it is given back.

#include <cuda_runtime.h>

struct Extremes {
  int smallest, largest, count;
};

__device__ int lock = 0;

__global__ void extremes_kernel(const int* in, Extremes* extremes) {
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  const int smallest = __reduce_min_sync(0xffffffffu, value), largest = __reduce_max_sync(0xffffffffu, value);
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) __nanosleep(20);
    __threadfence();
    extremes->smallest = min(extremes->smallest, smallest);
    extremes->largest = max(extremes->largest, largest);
    extremes->count += 32;
    __threadfence();
    atomicExch(&lock, 0);
  }
}

int main() {
  constexpr int kN = 512;
  int in[kN], *d_in;
  Extremes extremes = {1000, -1000, 0}, *d_extremes;
  for (int i = 0; i < kN; ++i) in[i] = (i * 37 + 11) % 701 - 300;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_extremes, sizeof extremes);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemcpy(d_extremes, &extremes, sizeof extremes, cudaMemcpyHostToDevice);
  extremes_kernel<<<4, 128>>>(d_in, d_extremes);
  Extremes expected = extremes;
  cudaMemcpy(&extremes, d_extremes, sizeof extremes, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_extremes);
  for (int value : in) {
    expected.smallest = value < expected.smallest ? value : expected.smallest;
    expected.largest = value > expected.largest ? value : expected.largest;
  }
  return extremes.smallest == expected.smallest && extremes.largest == expected.largest &&
                 extremes.count == kN
             ? 0
             : 1;
}
