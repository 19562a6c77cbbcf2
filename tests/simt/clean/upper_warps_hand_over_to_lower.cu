// Looks wrong: lower warps read what upper warps write, and no barrier lies between. The lower ones come
// first where warps run by their numbers. It is right: each writer fences and then sets a flag, by an atomic,
// by cuda::atomic_ref or as a volatile variable; the reader waits until it sees the flag, and then fences.

#include <cuda_runtime.h>
#include <cuda/atomic>

__global__ void relay_kernel(const int* in, int* out, int* through, volatile int* seen) {
  __shared__ int values[4][32], ready[2];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x < 2) ready[threadIdx.x] = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> flag(ready[1]);
  if (warp == 3) {
    values[3][lane] = 3 * in[lane];
    __threadfence_block();
    __syncwarp();
    if (lane == 0) atomicExch(&ready[0], 1);
  } else if (warp == 2) {
    if (lane == 0)
      while (atomicAdd(&ready[0], 0) == 0) {
      }
    __syncwarp();
    __threadfence_block();
    values[2][lane] = 1 + values[3][31 - lane];
    __syncwarp();
    if (lane == 0) flag.store(1, cuda::memory_order_release);
    __syncwarp();
  } else if (warp == 1) {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    through[lane] = 1 + values[2][lane];
    __threadfence();
    __syncwarp();
    if (lane == 0) *seen = 1;
  } else {
    while (*seen == 0) {
    }
    __threadfence();
    out[lane] = 1 + through[31 - lane];
  }
}

int main() {
  int in[32], out[32] = {}, *d_in, *d_out, *through, *seen;
  for (int i = 0; i < 32; ++i) in[i] = i + 4;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMalloc(&through, sizeof out);
  cudaMalloc(&seen, sizeof(int));
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemset(seen, 0, sizeof(int));
  relay_kernel<<<1, 128>>>(d_in, d_out, through, seen);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  for (int* memory : {d_in, d_out, through, seen}) cudaFree(memory);
  for (int i = 0; i < 32; ++i)
    if (out[i] != 3 * in[i] + 3) return 1;
  return 0;
}
