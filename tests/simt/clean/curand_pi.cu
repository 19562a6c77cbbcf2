// Looks like uninitialised reads: nobody but cuRAND writes x, and states are set up in a launch of their own.

#include <curand.h>
#include <curand_kernel.h>

#include <cstdio>

template <class State>
__global__ void set_up(State* states) {
  curand_init(7, threadIdx.x, 0, &states[threadIdx.x]);
}

template <class State>
__global__ void hits(State* states, const float2* points, unsigned int* inside) {
  State state = states[threadIdx.x];  // as a whole, with what is not in use yet
  unsigned int count = 0;
  for (int i = 0; i < 8; ++i) {
    const float x = curand_uniform(&state), y = curand_uniform(&state);
    count += x * x + y * y <= 1.0f;
  }
  const float2 p = points[threadIdx.x];
  count += p.x * p.x + p.y * p.y <= 1.0f;
  states[threadIdx.x] = state;
  atomicAdd(inside, count);
}

int main() {
  const int n = 64;
  curandState* states;
  curandStatePhilox4_32_10_t* philox_states;
  float* points;
  unsigned int *inside, count = 0;
  cudaMalloc(&states, n * sizeof(curandState));
  cudaMalloc(&philox_states, n * sizeof(curandStatePhilox4_32_10_t));
  cudaMalloc(&points, 2 * n * sizeof(float));
  cudaMalloc(&inside, sizeof(unsigned int));
  cudaMemset(inside, 0, sizeof(unsigned int));
  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10);
  curandGenerateUniform(generator, points, 2 * n);
  set_up<<<1, n>>>(states);
  hits<<<1, n>>>(states, (const float2*)points, inside);
  set_up<<<1, n>>>(philox_states);
  hits<<<1, n>>>(philox_states, (const float2*)points, inside);
  cudaMemcpy(&count, inside, sizeof count, cudaMemcpyDeviceToHost);
  std::printf("about %.2f\n", 4.0 * count / (2 * 9 * n));
  curandDestroyGenerator(generator);
  cudaFree(states), cudaFree(philox_states), cudaFree(points), cudaFree(inside);
  return cudaGetLastError();
}
