// Threads of a block hand each other a number in a thread_local variable, of which a GPU has none. Check mode
// takes it for a __shared__ variable, as which it is no better.
//
// expect: race at A, other side A
// expect: missing_syncwarp at B, other side A
#include <cuda_runtime.h>

thread_local volatile double last;

__global__ void hand_on_kernel(float* x) {
  last = x[threadIdx.x];  // A
  x[threadIdx.x] = last;  // B
}

int main() {
  float* x = nullptr;
  cudaMalloc(&x, 2 * sizeof(float));
  const float values[] = {1.0f, 2.0f};
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  hand_on_kernel<<<1, 2>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
