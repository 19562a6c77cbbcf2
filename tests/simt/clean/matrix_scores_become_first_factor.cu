// The accumulators of S, packed to 16 bits, are the first factor of the next product as they lie: P never
// leaves the registers.
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void load_matrices(unsigned (&a)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(shared(row))
               : "memory");
}

__device__ void load_transposed(unsigned (&a)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(shared(row))
               : "memory");
}

__device__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ unsigned pack(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

__global__ void attend(const unsigned short* in, float* out) {
  __shared__ alignas(16) unsigned short tile[16][24];
  const int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) tile[i / 16][i % 16] = in[i];
  __syncwarp();
  unsigned q[4], k[4], v[4];
  load_matrices(q, &tile[lane % 16][lane / 16 * 8]);
  load_matrices(k, &tile[lane % 8 + lane / 16 * 8][lane / 8 % 2 * 8]);
  load_transposed(v, &tile[lane % 16][lane / 16 * 8]);
  float s[2][4] = {}, o[4] = {};
  for (int n = 0; n < 2; ++n) multiply(s[n], q, k[2 * n], k[2 * n + 1]);
  const unsigned p[4] = {pack(s[0][0], s[0][1]), pack(s[0][2], s[0][3]), pack(s[1][0], s[1][1]),
                         pack(s[1][2], s[1][3])};
  multiply(o, p, v[0], v[1]);
  for (int i = 0; i < 4; ++i) out[4 * lane + i] = o[i];
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  attend<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
