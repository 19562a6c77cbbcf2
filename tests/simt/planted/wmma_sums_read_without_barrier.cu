// The sums of one warp are read by the other without a barrier behind the store.
//
// expect: race at A, other side B
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

__global__ void product(const __half* in, float* out) {
  __shared__ alignas(32) float sums[2][16][16];
  const int warp = threadIdx.x / 32;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::load_matrix_sync(a, in + 256 * warp, 16);
  wmma::load_matrix_sync(b, in, 16);
  wmma::fill_fragment(c, 0.0f);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(&sums[warp][0][0], c, 16, wmma::mem_row_major);  // B
  for (int i = threadIdx.x; i < 256; i += 64)
    out[i] = sums[0][i / 16][i % 16] + sums[1][i / 16][i % 16];  // A
}

int main() {
  __half* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  product<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
