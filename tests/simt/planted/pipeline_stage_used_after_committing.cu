// A kernel commits a stage of a pipeline that its block shares, uses the stage, and waits for it only then.
//
// expect: missing_wait at A, other side B
#include <cooperative_groups.h>
#include <cuda/pipeline>

__global__ void reverse(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> stages;
  auto pipe = cuda::make_pipeline(cooperative_groups::this_thread_block(), &stages);
  const int t = threadIdx.x;
  pipe.producer_acquire();
  cuda::memcpy_async(&tile[t], &x[t], sizeof(float), pipe);  // B
  pipe.producer_commit();
  y[63 - t] = tile[t];  // A
  pipe.consumer_wait();
  pipe.consumer_release();
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  reverse<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
