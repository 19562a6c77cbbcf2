// Looks wrong: a column of the shared tile and the end of every row in device memory are never initialised.
// It is right: they are padding that nobody reads.

#include <cuda_runtime.h>

constexpr int kTile = 16;

__global__ void transpose_kernel(const int* in, int in_row_stride, int* out, int out_row_stride) {
  __shared__ int tile[kTile][kTile + 1];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * in_row_stride + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * out_row_stride + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  int in[kTile][kTile], out[kTile][kTile] = {}, *d_in, *d_out;
  size_t in_pitch_bytes, out_pitch_bytes;
  for (int i = 0; i < kTile * kTile; ++i) in[i / kTile][i % kTile] = i;
  constexpr size_t kRowBytes = kTile * sizeof(int);
  cudaMallocPitch(&d_in, &in_pitch_bytes, kRowBytes, kTile);
  cudaMallocPitch(&d_out, &out_pitch_bytes, kRowBytes, kTile);
  cudaMemcpy2D(d_in, in_pitch_bytes, in, kRowBytes, kRowBytes, kTile, cudaMemcpyHostToDevice);
  transpose_kernel<<<1, dim3(kTile, kTile)>>>(d_in, in_pitch_bytes / sizeof(int), d_out,
                                              out_pitch_bytes / sizeof(int));
  cudaMemcpy2D(out, kRowBytes, d_out, out_pitch_bytes, kRowBytes, kTile, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < kTile * kTile; ++i)
    if (out[i % kTile][i / kTile] != i) return 1;
  return 0;
}
