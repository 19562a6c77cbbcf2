// The sums so far are loaded as an accumulator, by columns, added to, and stored to the same place by the
// warp that owns them.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

__global__ void accumulate(const __half* in, float* out) {
  const int warp = threadIdx.x / 32;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  for (int k = 0; k < 3; ++k) {
    wmma::load_matrix_sync(c, out + 256 * warp, 16, wmma::mem_col_major);
    wmma::load_matrix_sync(a, in + 256 * k, 16);
    wmma::load_matrix_sync(b, in + 256 * (k + warp), 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out + 256 * warp, c, 16, wmma::mem_col_major);
    __syncwarp();
  }
}

int main() {
  __half* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  accumulate<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
