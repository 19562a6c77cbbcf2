// The lanes of a branch reduce with the mask of the whole warp.
//
// expect: deadlock at A
#include <cuda_runtime.h>

__global__ void row_maximum(const unsigned short* in, unsigned* out) {
  const unsigned lane = threadIdx.x;
  unsigned most = in[lane];
  if (lane < 16) asm volatile("redux.sync.max.u32 %0, %0, 0xffffffff;" : "+r"(most));  // A
  __syncwarp();
  out[lane] = most;
}

int main() {
  unsigned short* in;
  unsigned* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  row_maximum<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
