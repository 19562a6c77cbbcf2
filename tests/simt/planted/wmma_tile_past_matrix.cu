// A matrix of 24 rows in tiles of 16: the second tile reaches past it.
// expect: out_of_bounds at A

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdio>

using namespace nvcuda;

__global__ void copy_tiles(const __half* in, float* out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> identity;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(identity, __half(0.0f));
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, in + blockIdx.x * 16 * 16, 16);  // A
  wmma::mma_sync(c, a, identity, c);
  wmma::store_matrix_sync(out + blockIdx.x * 16 * 16, c, 16, wmma::mem_row_major);
}

int main() {
  __half* in = nullptr;
  float* out = nullptr;
  cudaMalloc(&in, 24 * 16 * sizeof(__half));
  cudaMalloc(&out, 32 * 16 * sizeof(float));
  cudaMemset(in, 0, 24 * 16 * sizeof(__half));
  copy_tiles<<<2, 32>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(in);
  cudaFree(out);
}
