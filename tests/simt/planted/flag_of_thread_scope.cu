// A warp hands its numbers to another one by a flag whose scope is the thread: it orders nothing, and is an
// atomic for no other thread.
//
// expect: race at A, other side B
// expect: race at C, other side D
#include <cuda_runtime.h>
#include <cuda/atomic>

__global__ void relay_kernel(const int* in, int* out) {
  __shared__ int values[32], ready;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_thread> flag(ready);
  if (warp == 0) {
    values[lane] = 3 * in[lane];  // B
    __syncwarp();
    if (lane == 0) flag.store(1, cuda::memory_order_release);  // D
  } else {
    if (lane == 0)
      while (flag.load(cuda::memory_order_acquire) == 0) {  // C
      }
    __syncwarp();
    out[lane] = values[31 - lane];  // A
  }
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(in, 1, 32 * sizeof(int));
  relay_kernel<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
