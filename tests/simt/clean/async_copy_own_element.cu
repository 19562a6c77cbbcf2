// Looks wrong: data copied to shared memory asynchronously is read without any barrier.
// It is right: each thread reads only the 16 bytes that it copied itself, after its own wait.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void add_fields_kernel(const int4* in, int* out) {
  __shared__ int4 values[64];
  __pipeline_memcpy_async(&values[threadIdx.x], &in[threadIdx.x], sizeof(int4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  const int4 mine = values[threadIdx.x];
  out[threadIdx.x] = mine.x + mine.y + mine.z + mine.w;
}

int main() {
  int in[256], out[64] = {}, *d_out;
  int4* d_in;
  for (int i = 0; i < 256; ++i) in[i] = i;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  add_fields_kernel<<<1, 64>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < 64; ++i)
    if (out[i] != 16 * i + 6) return 1;
  return 0;
}
