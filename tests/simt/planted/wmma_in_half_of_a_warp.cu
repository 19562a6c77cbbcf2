// The guard of the tail is by thread, and only half of the last warp comes to the product.
//
// expect: divergent_instruction at A
// expect: divergent_instruction at B
// expect: divergent_instruction at C
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

__global__ void product(const __half* in, float* out, int threads) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  if (static_cast<int>(threadIdx.x) >= threads) return;
  wmma::load_matrix_sync(a, in, 16);  // A
  wmma::load_matrix_sync(b, in, 16);  // B
  wmma::mma_sync(c, a, b, c);         // C
  out[threadIdx.x] = c.x[0];
}

int main() {
  __half* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  product<<<1, 64>>>(in, out, 48);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
