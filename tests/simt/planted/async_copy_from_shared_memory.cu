// __pipeline_memcpy_async() reads global memory, and is given an address of shared memory.
//
// expect: assertion at A
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void shift(const int* in, int* out) {
  __shared__ int values[64], shifted[64];
  const unsigned i = threadIdx.x;
  values[i] = in[i];
  __syncthreads();
  __pipeline_memcpy_async(&shifted[i], &values[(i + 1) % 64], sizeof(int));  // A
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[i] = shifted[i];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 0, 64 * sizeof(int));
  shift<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
