// Q is loaded to registers once; behind a barrier its shared memory takes the output.
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(to)), "l"(from) : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kLeft>
__device__ void wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

__device__ void load_matrices(unsigned (&a)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
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

__global__ void attend(const unsigned short* in, float* out) {
  __shared__ alignas(16) unsigned char memory[64 * 48];
  auto& query = reinterpret_cast<unsigned short(&)[64][24]>(memory);
  auto& rows = reinterpret_cast<float(&)[64][12]>(memory);
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  for (int i = t; i < 128; i += 128) copy16(&query[i / 2][i % 2 * 8], &in[8 * i]);
  commit();
  wait_group<0>();
  __syncthreads();
  unsigned q[4];
  load_matrices(q, &query[16 * warp + lane % 16][lane / 16 * 8]);
  __syncthreads();
  float c[4] = {};
  multiply(c, q, q[0], q[1]);
  for (int i = 0; i < 4; ++i) rows[16 * warp + lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] = c[i];
  __syncthreads();
  for (int i = t; i < 512; i += 128) out[i] = rows[i / 8][i % 8];
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  attend<<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
