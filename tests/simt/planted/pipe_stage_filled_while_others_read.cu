// Warps sum rows of a tile that any of them may have copied, and send the next tile into it with no barrier
// between: only the lanes of a warp wait for each other. The barriers around the wait order the issue with
// nothing before it.
//
// expect: race at C, other side A
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(to)), "l"(from) : "memory");  // C
}

__device__ void finish_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
  __syncthreads();
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
}

__global__ void sum_tiles(const float* in, float* out, int tiles) {
  __shared__ alignas(16) float tile[64 * 4];
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = 0; i < tiles; ++i) {
    copy16(&tile[4 * t], &in[256 * i + 4 * t]);
    finish_copies();
    for (int j = 0; j < 4; ++j) sum += tile[(t + 64 * j) % 256];  // A
    __syncwarp();
  }
  out[t] = sum;
}

int main() {
  float *in, *out;
  cudaMalloc(&in, 1024 * sizeof *in);
  cudaMalloc(&out, 64 * sizeof *out);
  cudaMemset(in, 0, 1024 * sizeof *in);
  sum_tiles<<<1, 64>>>(in, out, 4);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
