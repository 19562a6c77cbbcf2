// Every lane fills the row that it names to ldmatrix, but the elements go to other lanes.
// expect: missing_syncwarp at A, other side B

#include <cuda_runtime.h>

#include <cstdio>

__device__ void load_a(unsigned (&a)[4], const void* row) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"  // B
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(address)
               : "memory");
}

__global__ void own_row(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) uint4 tile[32];
  const int lane = threadIdx.x;
  tile[lane] = reinterpret_cast<const uint4*>(in)[lane];  // A
  unsigned a[4];
  load_a(a, &tile[lane]);
  out[lane] = a[0] + a[1] + a[2] + a[3];
}

int main() {
  unsigned short* in = nullptr;
  unsigned* out = nullptr;
  cudaMalloc(&in, 4096 * sizeof(unsigned short));
  cudaMalloc(&out, 32 * sizeof(unsigned));
  cudaMemset(in, 0, 4096 * sizeof(unsigned short));
  cudaMemset(out, 0, 32 * sizeof(unsigned));
  own_row<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(in);
  cudaFree(out);
}
