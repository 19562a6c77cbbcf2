// A kernel steps over rows of pitched memory by the pitch in bytes, applied to a pointer to float.
// cudaMallocPitch() gives bytes: step with a char pointer, or divide by the size of an element.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

__global__ void fill(float* image, size_t pitch, int width, int height) {
  const int col = threadIdx.x, row = blockIdx.x;
  if (col < width && row < height) image[row * pitch + col] = row + 0.5f;  // A
}

int main() {
  const int width = 30, height = 4;
  float* image;
  size_t pitch;
  cudaMallocPitch(&image, &pitch, width * sizeof(float), height);
  fill<<<height, 32>>>(image, pitch, width, height);
  cudaDeviceSynchronize();
  cudaFree(image);
  return 0;
}
