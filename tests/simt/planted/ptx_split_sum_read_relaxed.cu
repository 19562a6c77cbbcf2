// The blocks of a split product count themselves by atom.relaxed: the last one reads the partial sums without
// having acquired them.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__device__ unsigned arrived;

__global__ void split(const unsigned short* in, float* out) {
  __shared__ unsigned before;
  const int t = threadIdx.x;
  out[32 + 32 * blockIdx.x + t] = in[32 * blockIdx.x + t];  // B
  __syncthreads();
  if (t == 0)
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(&arrived) : "memory");
  __syncthreads();
  if (before + 1 < gridDim.x) return;
  float sum = 0.0f;
  for (unsigned block = 0; block < gridDim.x; ++block) sum += out[32 + 32 * block + t];  // A
  out[t] = sum;
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  split<<<4, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
