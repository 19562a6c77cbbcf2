// P goes through shared memory: the next round stores its tile while other warps still load that of this one.
//
// expect: race at A, other side L
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void load_matrices(unsigned (&a)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"  // L
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(shared(row))
               : "memory");
}

__global__ void rounds(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) unsigned short p[32][24];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  unsigned sum = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = t; i < 32 * 16; i += 64) p[i / 16][i % 16] = in[512 * round + i];  // A
    __syncthreads();
    unsigned a[4];
    load_matrices(a, &p[16 * (1 - warp) + lane % 16][lane / 16 * 8]);
    sum += a[0] ^ a[1] ^ a[2] ^ a[3];
  }
  out[t] = sum;
}

int main() {
  unsigned short* in;
  unsigned* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  rounds<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
