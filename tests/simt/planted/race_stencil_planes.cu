// A stencil walks through planes and refills its tile while slower warps still read the plane before. Reads
// of a shared tile must end, by __syncthreads(), before the tile is written again.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

constexpr int kW = 32, kH = 8;

// in, out (planes, kH, kW): the mean of a cell and of its neighbours above and below
__global__ void smooth_rows(const float* in, float* out, int planes) {
  __shared__ float tile[kH + 2][kW];
  const int x = threadIdx.x, y = threadIdx.y;
  if (y == 0) tile[0][x] = 0.0f;
  if (y == kH - 1) tile[kH + 1][x] = 0.0f;
  for (int z = 0; z < planes; ++z) {
    const int i = (z * kH + y) * kW + x;
    tile[y + 1][x] = in[i];  // A
    __syncthreads();
    out[i] = (tile[y][x] + tile[y + 1][x] + tile[y + 2][x]) / 3.0f;  // B
  }
}

int main() {
  const int planes = 3, bytes = planes * kH * kW * sizeof(float);
  float *in, *out;
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, bytes);
  cudaMemset(in, 0, bytes);
  smooth_rows<<<1, dim3(kW, kH)>>>(in, out, planes);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
