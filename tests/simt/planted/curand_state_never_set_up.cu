// The generators are used, and curand_init() was never called.
// expect: uninitialised_read at A

#include <curand_kernel.h>

__global__ void draw(curandState* states, unsigned int* words) {
  words[threadIdx.x] = curand(&states[threadIdx.x]);  // A
}

int main() {
  curandState* states;
  unsigned int* words;
  cudaMalloc(&states, 32 * sizeof(curandState));
  cudaMalloc(&words, 32 * sizeof(unsigned int));
  draw<<<1, 32>>>(states, words);
  cudaDeviceSynchronize();
  cudaFree(states), cudaFree(words);
}
