// Looks wrong: the first write of shared memory is an atomic one, and other threads use atomics on it.
// It is right: a barrier, a __syncwarp() or a release stands between, or nobody looks at what was there
// before.

#include <cuda_runtime.h>

#include <cuda/atomic>

__global__ void count_kernel(const int* x, int* y) {
  __shared__ int counts[2], of_warps[2], largest, ready, value;
  const int t = threadIdx.x, warp = t / 32;
  if (t == 0) ready = 0;
  if (t < 2) atomicExch(&counts[t], 0);
  atomicExch(&largest, 7);  // by all threads
  __syncthreads();
  atomicAdd(&counts[x[t]], 1);
  if (t % 32 == 0) atomicExch(&of_warps[warp], 0);
  __syncwarp();
  atomicAdd(&of_warps[warp], x[t]);
  cuda::atomic_ref<int, cuda::thread_scope_block> flag(ready), sum(value);
  if (warp == 0) {
    if (t == 0) {
      sum.store(5, cuda::std::memory_order_relaxed);
      flag.store(1, cuda::std::memory_order_release);
    }
  } else {
    while (flag.load(cuda::std::memory_order_acquire) == 0) {
    }
    sum.fetch_add(1, cuda::std::memory_order_relaxed);
  }
  __syncthreads();
  if (t == 0) {
    y[0] = counts[0], y[1] = counts[1];
    y[2] = of_warps[0], y[3] = of_warps[1];
    y[4] = value, y[5] = largest;
  }
}

int main() {
  int host[64], got[6] = {}, *x = nullptr, *y = nullptr;
  for (int i = 0; i < 64; ++i) host[i] = i % 3 == 0;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof got);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  count_kernel<<<1, 64>>>(x, y);
  cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  return got[0] == 42 && got[1] == 22 && got[2] == 11 && got[3] == 11 && got[4] == 37 && got[5] == 7 ? 0 : 1;
}
