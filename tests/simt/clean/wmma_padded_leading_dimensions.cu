// Halves with a leading dimension of 24, sums with one of 20, both in shared memory; columns of the padding
// are never written and never read.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

__global__ void product(const __half* in, float* out) {
  __shared__ alignas(32) __half tile[16][24];
  __shared__ alignas(32) float sums[16][20];
  const int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) tile[i / 16][i % 16] = in[i];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::load_matrix_sync(a, &tile[0][0], 24);
  wmma::load_matrix_sync(b, &tile[0][0], 24);
  wmma::fill_fragment(c, 0.0f);
  wmma::mma_sync(c, a, b, c);
  for (int i = 0; i < c.num_elements; ++i) c.x[i] *= 0.125f;
  wmma::store_matrix_sync(&sums[0][0], c, 20, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) out[i] = sums[i / 16][i % 16];
}

int main() {
  __half* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  product<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
