// A block compares with the best value by a plain read before it calls atomicMax(). Other blocks change that
// value at the same time; a plain access beside an atomic one is a race.
//
// expect: race at A, other side B, best[0]
#include <cuda_runtime.h>

__global__ void find_best(const int* x, int* best) {
  int v = x[blockIdx.x * 32 + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) v = max(v, __shfl_down_sync(0xffffffff, v, offset));
  if (threadIdx.x == 0) {
    const int so_far = *best;            // B
    if (v > so_far) atomicMax(best, v);  // A
  }
}

int main() {
  int values[96], *x, *best;
  for (int i = 0; i < 96; ++i) values[i] = i;
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&best, sizeof(int));
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemset(best, 0, sizeof(int));
  find_best<<<3, 32>>>(x, best);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(best);
  return 0;
}
