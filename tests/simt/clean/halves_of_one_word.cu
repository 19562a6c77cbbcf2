// Looks wrong: two threads write the same half2 and the same short2 at the same time.
// It is right: one writes the lower 16 bits, the other the upper 16 bits.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void interleave_kernel(const short* in, short2* pairs, __half2* halves) {
  __shared__ short2 staged[32];
  const int thread = threadIdx.x;
  if (thread % 2 == 0)
    staged[thread / 2].x = in[thread];
  else
    staged[thread / 2].y = in[thread];
  __half* const scalars = reinterpret_cast<__half*>(halves);
  scalars[thread] = __int2half_rn(in[thread]);
  __syncthreads();
  if (thread < 32) pairs[thread] = staged[thread];
}

int main() {
  short in[64], *d_in;
  short2 pairs[32] = {}, *d_pairs;
  __half2 halves[32], *d_halves;
  for (int i = 0; i < 64; ++i) in[i] = 9 * i - 200;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_pairs, sizeof pairs);
  cudaMalloc(&d_halves, sizeof halves);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  interleave_kernel<<<1, 64>>>(d_in, d_pairs, d_halves);
  cudaMemcpy(pairs, d_pairs, sizeof pairs, cudaMemcpyDeviceToHost);
  cudaMemcpy(halves, d_halves, sizeof halves, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_pairs);
  cudaFree(d_halves);
  for (int i = 0; i < 32; ++i) {
    const float2 both = __half22float2(halves[i]);
    if (pairs[i].x != in[2 * i] || pairs[i].y != in[2 * i + 1]) return 1;
    if (both.x != in[2 * i] || both.y != in[2 * i + 1]) return 1;
  }
  return 0;
}
