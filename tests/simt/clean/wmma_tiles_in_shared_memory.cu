// Tiles of A and B pass through shared memory with a barrier before and behind; the sums leave by it, too.

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdio>

using namespace nvcuda;

__global__ void multiply_tiles(const __half* in, float* out) {
  __shared__ alignas(32) __half tile[2][16][24];
  __shared__ alignas(32) float sums[2][16][20];
  const int warp = threadIdx.x / 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  for (int k = 0; k < 2; ++k) {
    for (int i = threadIdx.x; i < 2 * 16 * 16; i += 64) tile[i / 256][i / 16 % 16][i % 16] = in[512 * k + i];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
    wmma::load_matrix_sync(a, &tile[warp][0][0], 24);
    wmma::load_matrix_sync(b, &tile[1 - warp][0][0], 24);
    wmma::mma_sync(c, a, b, c);
    __syncthreads();
  }
  for (int i = 0; i < c.num_elements; ++i) c.x[i] *= 0.5f;
  wmma::store_matrix_sync(&sums[warp][0][0], c, 20, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < 2 * 16 * 16; i += 64) out[i] = sums[i / 256][i / 16 % 16][i % 16];
}

int main() {
  __half* in = nullptr;
  float* out = nullptr;
  cudaMalloc(&in, 1024 * sizeof(__half));
  cudaMalloc(&out, 512 * sizeof(float));
  cudaMemset(in, 0, 1024 * sizeof(__half));
  multiply_tiles<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(in);
  cudaFree(out);
}
