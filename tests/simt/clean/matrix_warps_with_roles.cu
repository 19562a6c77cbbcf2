// Only the first warp multiplies: a branch that is the same for all lanes of a warp.

#include <cuda_runtime.h>

#include <cstdio>

__device__ void load_a(unsigned (&a)[4], const void* row) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(address)
               : "memory");
}

__device__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
      "%1, %2, %3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void one_warp_multiplies(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) unsigned short tile[16][24];
  for (int i = threadIdx.x; i < 16 * 24; i += 64) tile[i / 24][i % 24] = in[i];
  __syncthreads();
  if (threadIdx.x / 32 == 0) {
    unsigned a[4];
    float c[4] = {};
    load_a(a, &tile[threadIdx.x % 16][threadIdx.x / 16 * 8]);
    for (int k = 0; k < 2; ++k) multiply(c, a, a[0], a[1]);
    out[threadIdx.x] = static_cast<unsigned>(c[0]);
  } else {
    out[threadIdx.x] = tile[0][0];
  }
}

int main() {
  unsigned short* in = nullptr;
  unsigned* out = nullptr;
  cudaMalloc(&in, 4096 * sizeof(unsigned short));
  cudaMalloc(&out, 64 * sizeof(unsigned));
  cudaMemset(in, 0, 4096 * sizeof(unsigned short));
  cudaMemset(out, 0, 64 * sizeof(unsigned));
  one_warp_multiplies<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(in);
  cudaFree(out);
}
