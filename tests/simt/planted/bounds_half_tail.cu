// A kernel on pairs of halves reads one pair too many when the number of halves is odd. A __half2 is two
// elements: with an odd n the last pair lies half outside.
//
// expect: out_of_bounds at A
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void sum_pairs(const __half* x, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i < n) {
    const __half2 pair = reinterpret_cast<const __half2*>(x)[i];  // A
    sums[i] = __low2float(pair) + __high2float(pair);
  }
}

int main() {
  const int n = 101;
  __half* x;
  float* sums;
  cudaMalloc(&x, n * sizeof(__half));
  cudaMalloc(&sums, (n + 1) / 2 * sizeof(float));
  cudaMemset(x, 0, n * sizeof(__half));
  sum_pairs<<<1, 64>>>(x, sums, n);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sums);
  return 0;
}
