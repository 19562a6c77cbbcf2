// The first lane of each warp reads the pointer to dynamic shared memory, which is the simulator's own
// variable; the other lanes read what another warp writes at the same time.
//
// expect: race at A, other side B, values[33]
#include <cuda_runtime.h>

extern __shared__ float buffer[];

__global__ void kernel(float* y) {
  __shared__ float values[64];
  values[threadIdx.x] = 1.0f;  // A
  const float* from = &values[(threadIdx.x + 32) % 64];
  if (threadIdx.x % 32 == 0) from = reinterpret_cast<const float*>(&buffer);
  y[threadIdx.x] = *from;  // B
}

int main() {
  float* y;
  cudaMalloc(&y, 64 * sizeof(float));
  kernel<<<1, 64, 128>>>(y);
  cudaDeviceSynchronize();
  cudaFree(y);
  return 0;
}
