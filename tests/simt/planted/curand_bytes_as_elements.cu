// curandGenerateUniform() counts elements, and gets bytes.
// expect: out_of_bounds at A

#include <curand.h>

#include <cstdio>

int main() {
  const size_t bytes = 256 * sizeof(float);
  float* x;
  cudaMalloc(&x, bytes);
  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
  curandGenerateUniform(generator, x, bytes);  // A
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  curandDestroyGenerator(generator);
  cudaFree(x);
}
