// Looks wrong: one thread stores 16 bytes at once over what four other threads read and write one by one.
// It is right: every change between the two widths has a barrier.

#include <cuda_runtime.h>

__global__ void add_shifted_kernel(const float4* in, float4* out) {
  __shared__ float4 tile[16];
  float* const scalars = reinterpret_cast<float*>(tile);
  const int thread = threadIdx.x;
  if (thread < 16) tile[thread] = in[thread];
  __syncthreads();
  const float sum = scalars[thread] + scalars[(thread + 5) % 64];
  __syncthreads();
  scalars[thread] = sum;
  __syncthreads();
  if (thread < 16) out[thread] = tile[15 - thread];
}

int main() {
  float in[64], out[64] = {};
  float4 *d_in, *d_out;
  for (int i = 0; i < 64; ++i) in[i] = 0.5f * i;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  add_shifted_kernel<<<1, 64>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < 64; ++i) {
    const int from = 4 * (15 - i / 4) + i % 4;
    if (out[i] != in[from] + in[(from + 5) % 64]) return 1;
  }
  return 0;
}
