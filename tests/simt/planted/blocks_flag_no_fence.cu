// The first block raises an atomic flag right after its data, and the second reads the data when it sees the
// flag. An atomic orders only itself: the writer needs __threadfence() between its data and the flag.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void hand_over(int* flag, float* data, float* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42.0f;  // A
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    *out = *data;  // B
  }
}

int main() {
  int* flag;
  float *data, *out;
  cudaMalloc(&flag, sizeof(int));
  cudaMalloc(&data, sizeof(float));
  cudaMalloc(&out, sizeof(float));
  cudaMemset(flag, 0, sizeof(int));
  cudaMemset(data, 0, sizeof(float));
  hand_over<<<2, 32>>>(flag, data, out);
  cudaDeviceSynchronize();
  cudaFree(flag);
  cudaFree(data);
  cudaFree(out);
  return 0;
}
