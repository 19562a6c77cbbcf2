// Looks wrong: the last threads ask for 16 bytes although the array ends sooner.
// It is right: the zero-fill argument takes the bytes past the end away from the read and writes zeros
// instead.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kThreads = 32, kN = 101;  // 25 full groups of four and one of one

__global__ void load_padded_kernel(const int* in, int* out) {
  __shared__ __align__(16) int values[4 * kThreads];
  const int first = 4 * threadIdx.x, valid = max(0, min(4, kN - first));
  // Where nothing is valid nothing is read; the source must still be an address of the array.
  const int* const source = valid > 0 ? in + first : in;
  __pipeline_memcpy_async(&values[first], source, 16, 16 - 4 * valid);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = threadIdx.x; i < 4 * kThreads; i += kThreads) out[i] = values[i];
}

int main() {
  int in[kN], out[4 * kThreads], *d_in, *d_out;
  for (int i = 0; i < kN; ++i) in[i] = i + 1;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  load_padded_kernel<<<1, kThreads>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < 4 * kThreads; ++i)
    if (out[i] != (i < kN ? i + 1 : 0)) return 1;
  return 0;
}
