// Thread 0 frees what the block shares before the barrier, where the others have not read it. The barrier
// goes before the free.
//
// expect: illegal_address at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void reverse(float* out) {
  __shared__ float* scratch;
  const int thread = threadIdx.x;
  if (thread == 0) scratch = static_cast<float*>(malloc(32 * sizeof(float)));
  __syncthreads();
  scratch[thread] = 2.0f * thread;
  __syncwarp();
  if (thread == 0) free(scratch);
  __syncthreads();
  out[thread] = scratch[31 - thread];  // A
}

int main() {
  float out[32] = {}, *d_out;
  cudaMalloc(&d_out, sizeof out);
  reverse<<<1, 32>>>(d_out);
  std::printf("%s\n", cudaGetErrorString(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost)));
  cudaFree(d_out);
  return out[0] == 62.0f ? 0 : 1;
}
