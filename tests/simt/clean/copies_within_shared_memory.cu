// Looks wrong: memcpy_async() gets two addresses of shared memory, then one of global memory to copy to, and
// the results are read before the wait.
// It is right: only a copy from global to shared memory is asynchronous. All others are made at once.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

#include <cuda/pipeline>

__global__ void reverse_kernel(const int* in, int* out) {
  __shared__ int values[64], reversed[64];
  auto pipe = cuda::make_pipeline();
  const unsigned i = threadIdx.x;
  values[i] = in[i];
  __syncthreads();
  pipe.producer_acquire();
  cuda::memcpy_async(&reversed[i], &values[63 - i], sizeof(int), pipe);
  reversed[i] += 1;
  cuda::memcpy_async(&out[i], &reversed[i], sizeof(int), pipe);
  out[i] *= 2;
  pipe.producer_commit();
  pipe.consumer_wait();
  pipe.consumer_release();
  __syncthreads();
  cooperative_groups::memcpy_async(cooperative_groups::this_thread_block(), out + 64, reversed,
                                   sizeof reversed);
}

int main() {
  int in[64], out[128] = {}, *d_in, *d_out;
  for (int i = 0; i < 64; ++i) in[i] = i;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  reverse_kernel<<<1, 64>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < 64; ++i)
    if (out[i] != 2 * (64 - i) || out[64 + i] != 64 - i) return 1;
  return 0;
}
