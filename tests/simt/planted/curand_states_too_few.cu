// Each thread has a generator, and the states are allocated for one block.
// expect: out_of_bounds at A

#include <curand_kernel.h>

__global__ void set_up(curandState* states) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(1, i, 0, &states[i]);  // A
}

int main() {
  curandState* states;
  cudaMalloc(&states, 64 * sizeof(curandState));
  set_up<<<2, 64>>>(states);
  cudaDeviceSynchronize();
  cudaFree(states);
}
