// A chunk's number is divided by 8 once too often: 8 threads copy to the same 16 bytes.
// The rest is never written.
//
// expect: missing_wait at A, other side A
// expect: uninitialised_read at B
#include <cuda_runtime.h>

constexpr int kChunks = 64;

__global__ void reverse(const float4* in, float4* out) {
  __shared__ float4 tile[kChunks];
  const int chunk = threadIdx.x;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[chunk / 8]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(&in[chunk]) : "memory");  // A
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[chunk] = tile[kChunks - 1 - chunk];  // B
}

int main() {
  float4 *in, *out;
  cudaMalloc(&in, kChunks * sizeof *in);
  cudaMalloc(&out, kChunks * sizeof *out);
  cudaMemset(in, 0, kChunks * sizeof *in);
  reverse<<<1, kChunks>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
