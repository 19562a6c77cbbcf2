// Looks wrong: every thread changes a member of the kernel's argument.
// It is right: an argument passed by value is each thread's own copy.

#include <cuda_runtime.h>

struct Walk {
  int position, steps[4];
  int* trail;
};

__global__ void walk_kernel(Walk walk) {
  walk.position += threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    walk.steps[i] *= threadIdx.x % 2 == 0 ? 1 : -1;
    walk.position += walk.steps[i];
  }
  walk.trail[threadIdx.x] = walk.position;
  walk.trail = nullptr;
}

int main() {
  int trail[64] = {};
  Walk walk = {100, {1, 20, -3, 4}, nullptr};
  cudaMalloc(&walk.trail, sizeof trail);
  walk_kernel<<<1, 64>>>(walk);
  cudaMemcpy(trail, walk.trail, sizeof trail, cudaMemcpyDeviceToHost);
  cudaFree(walk.trail);
  for (int i = 0; i < 64; ++i)
    if (trail[i] != 100 + i + (i % 2 == 0 ? 22 : -22)) return 1;
  return 0;
}
