// place.w is never written. Neither is the padding behind mass, but that is no mistake.
// expect: uninitialised_read at A

#include <cstdio>

struct Particle {
  float mass;  // 12 bytes of padding follow
  float4 place;
};

__global__ void fill(Particle* particles) {
  Particle& p = particles[threadIdx.x];
  p.mass = 1.0f;
  p.place.x = p.place.y = p.place.z = 1.0f;
}

__global__ void sum(const Particle* particles, float* sums) {
  const Particle p = particles[threadIdx.x];  // A
  sums[threadIdx.x] = p.place.x + p.place.w;
}

int main() {
  Particle* particles;
  float *sums, first;
  cudaMalloc(&particles, 32 * sizeof(Particle));
  cudaMalloc(&sums, 32 * sizeof(float));
  fill<<<1, 32>>>(particles);
  sum<<<1, 32>>>(particles, sums);
  cudaMemcpy(&first, sums, sizeof first, cudaMemcpyDeviceToHost);
  std::printf("%g\n", first);
  cudaFree(particles);
  cudaFree(sums);
}
