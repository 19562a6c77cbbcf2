// A loop allocates a scratch array each time around and frees only the last one. A pointer that is
// overwritten takes its allocation with it: free it before, or allocate once.
//
// expect: leak at A
#include <cuda_runtime.h>

__global__ void fill(int* scratch, int value) { scratch[threadIdx.x] = value; }

int main() {
  int* scratch = nullptr;
  for (int step = 0; step < 4; ++step) {
    cudaMalloc(&scratch, 32 * sizeof(int));  // A
    fill<<<1, 32>>>(scratch, step);
    cudaDeviceSynchronize();
  }
  cudaFree(scratch);
  return 0;
}
