// A matrix begins 8 elements into an array, at a multiple of 16 bytes: a fragment needs one of 32.
//
// expect: assertion at A
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void square(const __half* x, float* y) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(a, x, 16);
  wmma::load_matrix_sync(b, x + 8, 16);  // A
  wmma::mma_sync(sum, a, b, sum);
  wmma::store_matrix_sync(y, sum, 16, wmma::mem_row_major);
}

int main() {
  __half* x;
  float* y;
  cudaMalloc(&x, 264 * sizeof(__half));
  cudaMalloc(&y, 256 * sizeof(float));
  cudaMemset(x, 0, 264 * sizeof(__half));
  square<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
