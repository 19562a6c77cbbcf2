// Two warps load a flag with acquire, one after it has written a value and the other before it reads the
// value. Loads hand nothing on: only a store with release would order the two.
//
// expect: race at B, other side A, value
#include <cuda/atomic>

__global__ void kernel(float* y) {
  __shared__ float value;
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> ready(flag);
  if (threadIdx.x == 0) {
    value = 5.0f;  // A
    __threadfence_block();
    y[1] = static_cast<float>(ready.load(cuda::memory_order_acquire));
  } else if (threadIdx.x == 32) {
    y[2] = static_cast<float>(ready.load(cuda::memory_order_acquire));
    y[0] = value;  // B
  }
}

int main() {
  float* y;
  cudaMalloc(&y, 3 * sizeof(float));
  kernel<<<1, 64>>>(y);
  cudaDeviceSynchronize();
  cudaFree(y);
}
