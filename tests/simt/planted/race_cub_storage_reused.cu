// Two reductions share their TempStorage, and nothing lies between them: thread 0 may still read the sums of
// the first when other warps write those of the second.
//
// expect: race at B, other side A

#include <cub/block/block_reduce.cuh>

#include <cstdio>

__global__ void mean_and_square(const float* x, float* out) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ Reduce::TempStorage storage;
  const float value = x[threadIdx.x];
  const float sum = Reduce(storage).Sum(value);              // A
  const float squares = Reduce(storage).Sum(value * value);  // B
  if (threadIdx.x == 0) out[0] = sum, out[1] = squares;
}

int main() {
  float *x, *out, results[2];
  cudaMalloc(&x, 128 * sizeof(float));
  cudaMalloc(&out, 2 * sizeof(float));
  cudaMemset(x, 0, 128 * sizeof(float));
  mean_and_square<<<1, 128>>>(x, out);
  cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost);
  std::printf("%g %g\n", results[0], results[1]);
  cudaFree(x);
  cudaFree(out);
}
