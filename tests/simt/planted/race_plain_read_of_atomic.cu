// Warps count survivors with atomicAdd(), and the first thread reads the counter while others still add. An
// atomic and a plain access to one element are a race unless a barrier separates them.
//
// expect: race at A, other side B, kept
#include <cuda_runtime.h>

__global__ void count_positive(const float* x, int* counts) {
  __shared__ int kept;
  const int t = threadIdx.x;
  if (t == 0) kept = 0;
  __syncthreads();
  const unsigned positive = __ballot_sync(0xffffffff, x[blockIdx.x * 128 + t] > 0.0f);
  if (t % 32 == 0) atomicAdd(&kept, __popc(positive));  // A
  if (t == 0) counts[blockIdx.x] = kept;                // B
}

int main() {
  float* x;
  int* counts;
  cudaMalloc(&x, 256 * sizeof(float));
  cudaMalloc(&counts, 2 * sizeof(int));
  cudaMemset(x, 1, 256 * sizeof(float));
  count_positive<<<2, 128>>>(x, counts);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(counts);
  return 0;
}
