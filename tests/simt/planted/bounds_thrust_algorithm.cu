// Two algorithms go past the end of their arrays. They have no functor of the program, so its lines are those
// that call them, one of them in a function.
// expect: out_of_bounds at A
// expect: out_of_bounds at B

#include <cuda_runtime.h>
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/fill.h>

void fill_with(int value, thrust::device_ptr<int> begin, int count) {
  thrust::fill(begin, begin + count, value);  // A
}

int main() {
  constexpr int kCount = 32;
  int *values, *copies;
  cudaMalloc(&values, kCount * sizeof(int));
  cudaMalloc(&copies, kCount * sizeof(int));
  cudaMemset(copies, 0, kCount * sizeof(int));
  fill_with(7, thrust::device_ptr<int>(values), kCount + 1);
  const thrust::device_ptr<int> begin(copies);
  thrust::copy(begin + 1, begin + kCount + 1, begin);  // B
  cudaFree(values);
  cudaFree(copies);
  return 0;
}
