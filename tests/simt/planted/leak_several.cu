// A class frees one of its three arrays. What a constructor allocates on the device its destructor must
// free.
//
// expect: leak at A
// expect: leak at B
#include <cuda_runtime.h>

struct Particles {
  float *position, *velocity, *mass;
  explicit Particles(int n) {
    cudaMalloc(&position, n * sizeof(float));
    cudaMalloc(&velocity, n * sizeof(float));  // A
    cudaMalloc(&mass, n * sizeof(float));      // B
  }
  ~Particles() { cudaFree(position); }
};

__global__ void start(float* position, float* velocity, float* mass) {
  position[threadIdx.x] = threadIdx.x;
  velocity[threadIdx.x] = 0.0f;
  mass[threadIdx.x] = 1.0f;
}

int main() {
  const Particles particles(32);
  start<<<1, 32>>>(particles.position, particles.velocity, particles.mass);
  cudaDeviceSynchronize();
  return 0;
}
