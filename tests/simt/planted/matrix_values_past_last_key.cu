// V is loaded transposed sixteen keys at a time, and the tile has 24: the second load begins at key 16 and
// takes its rows 24 to 31 from behind the tile.
//
// expect: out_of_bounds at T
#include <cuda_runtime.h>

__device__ unsigned shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void load_transposed(unsigned (&a)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"  // T
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(shared(row))
               : "memory");
}

__global__ void load_values(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) unsigned short v[24][16];
  const int lane = threadIdx.x;
  for (int i = lane; i < 24 * 16; i += 32) v[i / 16][i % 16] = in[i];
  __syncwarp();
  unsigned sum = 0;
  for (int key = 0; key < 32; key += 16) {
    unsigned b[4];
    load_transposed(b, &v[0][0] + 16 * (key + lane % 16) + lane / 16 * 8);
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
