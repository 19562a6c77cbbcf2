// V as the second factor: its rows are keys, and ldmatrix.trans turns them; rows have a pitch of 24 elements.
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

__device__ void load_transposed(unsigned (&a)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(shared(row))
               : "memory");
}

__global__ void load_values(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) unsigned short v[32][24];
  const int lane = threadIdx.x;
  for (int i = lane; i < 64; i += 32) copy16(&v[i / 2][i % 2 * 8], &in[8 * i]);
  commit();
  wait_group<0>();
  __syncwarp();
  unsigned sum = 0;
  for (int key = 0; key < 32; key += 16) {
    unsigned b[4];
    load_transposed(b, &v[key + lane % 16][lane / 16 * 8]);
    sum += b[0] ^ b[1] ^ b[2] ^ b[3];
  }
  out[lane] = sum;
}

int main() {
  unsigned short* in;
  unsigned* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  load_values<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
