// Looks wrong: pixels of three bytes straddle words, and rows begin at odd addresses.
// It is right: all accesses are single bytes, which need no alignment, and each byte has one writer.

#include <cuda_runtime.h>

__global__ void swap_red_and_blue_kernel(unsigned char* image, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  unsigned char* const pixel = image + 3 * (y * width + x);
  const unsigned char red = pixel[0];
  pixel[0] = pixel[2];
  pixel[2] = red;
}

int main() {
  constexpr int kWidth = 19, kHeight = 11, kBytes = 3 * kWidth * kHeight;
  unsigned char image[kBytes], *d_image;
  for (int i = 0; i < kBytes; ++i) image[i] = i * 7;
  cudaMalloc(&d_image, kBytes);
  cudaMemcpy(d_image, image, kBytes, cudaMemcpyHostToDevice);
  swap_red_and_blue_kernel<<<dim3(3, 3), dim3(8, 4)>>>(d_image, kWidth, kHeight);
  cudaMemcpy(image, d_image, kBytes, cudaMemcpyDeviceToHost);
  cudaFree(d_image);
  for (int i = 0; i < kBytes; ++i) {
    const int from = i % 3 == 0 ? i + 2 : i % 3 == 2 ? i - 2 : i;
    if (image[i] != static_cast<unsigned char>(from * 7)) return 1;
  }
  return 0;
}
