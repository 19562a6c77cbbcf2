// Two flags in shared memory lie in what pads a struct, and nobody has set them to zero. Padding needs no
// value where a struct is copied; a flag does.
//
// expect: uninitialised_read at A
// expect: uninitialised_read at B
#include <cuda_runtime.h>

struct alignas(8) Count {
  int number;
};

__global__ void look(int* y) {
  __shared__ Count counts[2];
  int* const taken = reinterpret_cast<int*>(&counts[0]) + 1;
  volatile int* const done = reinterpret_cast<int*>(&counts[1]) + 1;
  y[0] = atomicAdd(taken, 1);  // A
  y[1] = *done;                // B
}

int main() {
  int* y;
  cudaMalloc(&y, 2 * sizeof(int));
  look<<<1, 1>>>(y);
  cudaDeviceSynchronize();
  cudaFree(y);
  return 0;
}
