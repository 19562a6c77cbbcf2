// One lane, elected by the warp, writes what the others read behind a __syncwarp().
#include <cuda_runtime.h>

__global__ void broadcast(const unsigned short* in, unsigned* out) {
  __shared__ unsigned result;
  const unsigned lane = threadIdx.x;
  unsigned most = in[lane] + lane, elected = lane == 0;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .pred p; .reg .b32 r; elect.sync r|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(elected));
#endif
  asm volatile("redux.sync.max.u32 %0, %0, 0xffffffff;" : "+r"(most));
  if (elected != 0) result = most;
  __syncwarp();
  out[lane] = result;
}

int main() {
  unsigned short* in;
  unsigned* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  broadcast<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
