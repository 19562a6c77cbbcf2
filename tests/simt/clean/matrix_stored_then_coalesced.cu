// stmatrix writes a tile of a warp, and another warp stores it to global memory, 16 bytes a lane.
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__global__ void store_tiles(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) unsigned short tile[2][16][24];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const unsigned x = in[t] + t;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(
                   shared(&tile[warp][lane % 16][lane / 16 * 8])),
               "r"(x)
               : "memory");
#endif
  __syncthreads();
  const uint4 row = *reinterpret_cast<const uint4*>(&tile[1 - warp][lane / 2][lane % 2 * 8]);
  reinterpret_cast<uint4*>(out)[t] = row;
}

int main() {
  unsigned short* in;
  unsigned* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  store_tiles<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
