// Rows with a pitch: 2D copies, a box filter that steps by bytes, 2D memsets, in a stream and without.

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void box_filter(const unsigned char* src, size_t src_pitch, float* dst, size_t dst_pitch, int w,
                           int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int sum = 0, count = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    if (y + dy < 0 || y + dy >= h) continue;
    const unsigned char* row = src + (y + dy) * src_pitch;
    for (int dx = -1; dx <= 1; ++dx)
      if (x + dx >= 0 && x + dx < w) sum += row[x + dx], ++count;
  }
  float* out = (float*)((char*)dst + y * dst_pitch) + x;
  *out = (float)sum / count;
}

int main() {
  const int w = 75, h = 41;
  std::vector<unsigned char> image(w * h);
  std::vector<float> result(w * h);
  for (int i = 0; i < w * h; ++i) image[i] = (unsigned char)(i * 37 % 251);
  unsigned char* d_src;
  float* d_dst;
  size_t src_pitch, dst_pitch;
  cudaMallocPitch(&d_src, &src_pitch, w, h);
  cudaMallocPitch((void**)&d_dst, &dst_pitch, w * sizeof(float), h);
  if (src_pitch < w || src_pitch % 32 || dst_pitch < w * sizeof(float)) return 2;
  cudaMemset2D(d_dst, dst_pitch, 0, w * sizeof(float), h);
  cudaMemcpy2D(d_src, src_pitch, image.data(), w, w, h, cudaMemcpyHostToDevice);
  const dim3 block(16, 8), grid((w + 15) / 16, (h + 7) / 8);
  box_filter<<<grid, block>>>(d_src, src_pitch, d_dst, dst_pitch, w, h);
  cudaMemcpy2D(result.data(), w * sizeof(float), d_dst, dst_pitch, w * sizeof(float), h,
               cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      int sum = 0, count = 0;
      for (int v = y - 1; v <= y + 1; ++v)
        for (int u = x - 1; u <= x + 1; ++u)
          if (u >= 0 && u < w && v >= 0 && v < h) sum += image[v * w + u], ++count;
      wrong += result[y * w + x] != (float)sum / count;
    }

  cudaStream_t stream;
  cudaStreamCreate(&stream);
  unsigned char* pinned;
  cudaMallocHost(&pinned, w * h);
  cudaMemset2DAsync(d_src, src_pitch, 9, w / 2, h, stream);
  cudaMemcpy2DAsync(pinned, w, d_src, src_pitch, w, h, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  for (int i = 0; i < w * h; ++i) wrong += pinned[i] != (i % w < w / 2 ? 9 : image[i]);
  wrong += cudaMemcpy2D(pinned, w, d_src, src_pitch, w + 1, h, cudaMemcpyDeviceToHost) !=
           cudaErrorInvalidPitchValue;
  cudaGetLastError();
  cudaFreeHost(pinned), cudaFree(d_src), cudaFree(d_dst), cudaStreamDestroy(stream);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
