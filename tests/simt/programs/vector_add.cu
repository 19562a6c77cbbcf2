// c = a + b with a tail: the first program that everybody writes.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void vectorAdd(const float* A, const float* B, float* C, int numElements) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < numElements) C[i] = A[i] + B[i];
}

int main(void) {
  const int numElements = 50000;
  const size_t size = numElements * sizeof(float);
  float *h_A = (float*)malloc(size), *h_B = (float*)malloc(size), *h_C = (float*)malloc(size);
  if (h_A == NULL || h_B == NULL || h_C == NULL) {
    fprintf(stderr, "no host memory\n");
    return EXIT_FAILURE;
  }
  for (int i = 0; i < numElements; ++i) {
    h_A[i] = rand() / (float)RAND_MAX;
    h_B[i] = rand() / (float)RAND_MAX;
  }

  cudaError_t err = cudaSuccess;
  float *d_A = NULL, *d_B = NULL, *d_C = NULL;
  if ((err = cudaMalloc((void**)&d_A, size)) != cudaSuccess ||
      (err = cudaMalloc((void**)&d_B, size)) != cudaSuccess ||
      (err = cudaMalloc((void**)&d_C, size)) != cudaSuccess) {
    fprintf(stderr, "no device memory (%s)\n", cudaGetErrorString(err));
    return EXIT_FAILURE;
  }
  cudaMemcpy(d_A, h_A, size, cudaMemcpyHostToDevice);
  cudaMemcpy(d_B, h_B, size, cudaMemcpyHostToDevice);

  const int threadsPerBlock = 256;
  const int blocksPerGrid = (numElements + threadsPerBlock - 1) / threadsPerBlock;
  printf("%d blocks of %d threads\n", blocksPerGrid, threadsPerBlock);
  vectorAdd<<<blocksPerGrid, threadsPerBlock>>>(d_A, d_B, d_C, numElements);
  err = cudaGetLastError();
  if (err != cudaSuccess) {
    fprintf(stderr, "launch failed (%s)\n", cudaGetErrorString(err));
    return EXIT_FAILURE;
  }

  cudaMemcpy(h_C, d_C, size, cudaMemcpyDeviceToHost);
  for (int i = 0; i < numElements; ++i)
    if (h_C[i] != h_A[i] + h_B[i]) {
      fprintf(stderr, "wrong at %d\n", i);
      return EXIT_FAILURE;
    }
  cudaFree(d_A);
  cudaFree(d_B);
  cudaFree(d_C);
  free(h_A);
  free(h_B);
  free(h_C);
  printf("PASSED\n");
  return 0;
}
