// Looks wrong: 32 threads set bits of the same word, and others read it with a plain load.
// It is right: the bits are set atomically, and the plain accesses lie beyond a barrier.

#include <cuda_runtime.h>

__global__ void mark_divisors_kernel(unsigned* marks, int n) {
  __shared__ unsigned words[4];
  const int thread = threadIdx.x;
  if (thread < 4) words[thread] = 0;
  __syncthreads();
  if (n % (thread + 1) == 0) atomicOr(&words[thread / 32], 1u << thread % 32);
  __syncthreads();
  if (thread < 4) marks[thread] = words[thread];
}

int main() {
  unsigned marks[4] = {}, *d_marks;
  cudaMalloc(&d_marks, sizeof marks);
  mark_divisors_kernel<<<1, 128>>>(d_marks, 5040);
  cudaMemcpy(marks, d_marks, sizeof marks, cudaMemcpyDeviceToHost);
  cudaFree(d_marks);
  for (int i = 0; i < 128; ++i)
    if ((marks[i / 32] >> i % 32 & 1) != (5040 % (i + 1) == 0)) return 1;
  return 0;
}
