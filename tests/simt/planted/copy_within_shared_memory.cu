// Each thread copies what another warp's thread stores, from shared to shared memory, without a barrier
// between. Such a copy is an ordinary load and an ordinary store.
//
// expect: race at A, other side B
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

#include <cuda/pipeline>

__global__ void reverse(const int* in, int* out) {
  __shared__ int values[64], reversed[64];
  auto pipe = cuda::make_pipeline();
  const unsigned i = threadIdx.x;
  values[i] = in[i];  // B
  pipe.producer_acquire();
  cuda::memcpy_async(&reversed[i], &values[63 - i], sizeof(int), pipe);  // A
  pipe.producer_commit();
  pipe.consumer_wait();
  pipe.consumer_release();
  out[i] = reversed[i];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 0, 64 * sizeof(int));
  reverse<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
