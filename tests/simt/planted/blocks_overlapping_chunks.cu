// Each block labels its chunk including the first element of the next one, because <= stands where <
// belongs. Two blocks may not write the same element: nothing decides whose label stays.
//
// expect: race at A, other side A
#include <cuda_runtime.h>

__global__ void label_chunks(int* labels, int chunk) {
  const int first = blockIdx.x * chunk, end = first + chunk;
  for (int i = first + threadIdx.x; i <= end; i += blockDim.x) labels[i] = blockIdx.x;  // A
}

int main() {
  const int blocks = 4, chunk = 100, n = blocks * chunk + 1;
  int* labels;
  cudaMalloc(&labels, n * sizeof(int));
  label_chunks<<<blocks, 64>>>(labels, chunk);
  cudaDeviceSynchronize();
  cudaFree(labels);
  return 0;
}
