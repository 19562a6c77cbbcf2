// Looks wrong: whole structs are copied although the bytes between their members were never written.
// It is right: padding has no value that anybody could depend on; all members are initialised.

#include <cuda_runtime.h>

struct alignas(16) Particle {
  float x, y;
  char kind;  // seven bytes of padding follow
};

__global__ void make_particles_kernel(Particle* particles) {
  Particle& mine = particles[threadIdx.x];
  mine.x = threadIdx.x;
  mine.y = -2.0f * threadIdx.x;
  mine.kind = threadIdx.x % 5;
}

__global__ void reverse_particles_kernel(const Particle* in, Particle* out) {
  __shared__ Particle staged[64];
  staged[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = staged[63 - threadIdx.x];
}

int main() {
  Particle particles[64], *d_in, *d_out;
  cudaMalloc(&d_in, sizeof particles);
  cudaMalloc(&d_out, sizeof particles);
  make_particles_kernel<<<1, 64>>>(d_in);
  reverse_particles_kernel<<<1, 64>>>(d_in, d_out);
  cudaMemcpy(particles, d_out, sizeof particles, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < 64; ++i) {
    const Particle& p = particles[i];
    if (p.x != 63 - i || p.y != -2.0f * (63 - i) || p.kind != (63 - i) % 5) return 1;
  }
  return 0;
}
