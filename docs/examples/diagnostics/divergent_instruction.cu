// divergent_instruction: half of a warp returns before a matrix product, which takes all 32 lanes.
// Any argument runs the fixed version.

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdio>

#include "device/cuda_check.hpp"

using namespace nvcuda;

// [broken]
__global__ void square_broken(const __half* A, float* C) {
  if (threadIdx.x >= 16) return;  // one thread for each of the 16 rows
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::load_matrix_sync(a, A, 16);
  wmma::load_matrix_sync(b, A, 16);
  wmma::fill_fragment(c, 0.0f);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(C, c, 16, wmma::mem_row_major);
}
// [broken]

// [fixed]
__global__ void square_fixed(const __half* A, float* C) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::load_matrix_sync(a, A, 16);
  wmma::load_matrix_sync(b, A, 16);
  wmma::fill_fragment(c, 0.0f);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(C, c, 16, wmma::mem_row_major);
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  __half* A = nullptr;
  CUDA_CHECK(cudaMalloc(&A, 16 * 16 * sizeof(__half)));
  CUDA_CHECK(cudaMemset(A, 0, 16 * 16 * sizeof(__half)));
  float* C = nullptr;
  CUDA_CHECK(cudaMalloc(&C, 16 * 16 * sizeof(float)));
  if (fixed)
    square_fixed<<<1, 32>>>(A, C);
  else
    square_broken<<<1, 32>>>(A, C);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(A));
  CUDA_CHECK(cudaFree(C));
}
