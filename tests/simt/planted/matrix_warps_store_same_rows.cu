// Both warps store their accumulators to the same sixteen rows: the offset of the warp is missing.
//
// expect: race at A, other side A
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, "
      "%1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void product(const unsigned short* in, float* out) {
  __shared__ float sums[32][8];
  const int t = threadIdx.x, lane = t % 32;
  const unsigned x = 0x3f80u + in[t] + t;
  const unsigned a[4] = {x, x, x, x};
  float c[4] = {};
  multiply(c, a, x, x);
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    const unsigned at = shared(&sums[row][column]);
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(c[i]) : "memory");  // A
  }
  __syncthreads();
  out[t] = sums[t / 8][t % 8];
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  product<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
