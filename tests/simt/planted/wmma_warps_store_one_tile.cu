// Both warps of a block store their sums to the same tile.
// expect: race at A, other side A

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdio>

using namespace nvcuda;

__global__ void sums_of_two_warps(const __half* in, float* out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, static_cast<float>(threadIdx.x / 32));
  wmma::load_matrix_sync(a, in + threadIdx.x / 32 * 16, 32);
  wmma::load_matrix_sync(b, in + threadIdx.x / 32 * 16, 32);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);  // A
}

int main() {
  __half* in = nullptr;
  float* out = nullptr;
  cudaMalloc(&in, 16 * 32 * sizeof(__half));
  cudaMalloc(&out, 16 * 16 * sizeof(float));
  cudaMemset(in, 0, 16 * 32 * sizeof(__half));
  sums_of_two_warps<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(in);
  cudaFree(out);
}
