// Looks wrong: the same dynamic shared memory holds floats first and bytes later.
// It is right: a barrier ends the first use, and the second use writes before it reads.

#include <cuda_runtime.h>

__global__ void average_and_mirror_kernel(const float* in, const unsigned char* bytes, float* out,
                                          unsigned char* mirrored) {
  extern __shared__ unsigned char memory[];
  float* const floats = reinterpret_cast<float*>(memory);
  const int thread = threadIdx.x;
  floats[thread] = in[thread];
  __syncthreads();
  out[thread] = 0.5f * (floats[thread] + floats[thread ^ 1]);
  __syncthreads();  // nobody reads the floats any more
  for (int i = thread; i < 200; i += blockDim.x) memory[i] = bytes[i];
  __syncthreads();
  for (int i = thread; i < 200; i += blockDim.x) mirrored[i] = memory[199 - i];
}

int main() {
  float in[64], out[64] = {}, *d_in, *d_out;
  unsigned char bytes[200], mirrored[200] = {}, *d_bytes, *d_mirrored;
  for (int i = 0; i < 64; ++i) in[i] = i * i;
  for (int i = 0; i < 200; ++i) bytes[i] = 255 - i;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMalloc(&d_bytes, sizeof bytes);
  cudaMalloc(&d_mirrored, sizeof mirrored);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemcpy(d_bytes, bytes, sizeof bytes, cudaMemcpyHostToDevice);
  average_and_mirror_kernel<<<1, 64, 64 * sizeof(float)>>>(d_in, d_bytes, d_out, d_mirrored);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaMemcpy(mirrored, d_mirrored, sizeof mirrored, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  cudaFree(d_bytes);
  cudaFree(d_mirrored);
  for (int i = 0; i < 64; ++i)
    if (out[i] != 0.5f * (in[i] + in[i ^ 1])) return 1;
  for (int i = 0; i < 200; ++i)
    if (mirrored[i] != bytes[199 - i]) return 1;
  return 0;
}
