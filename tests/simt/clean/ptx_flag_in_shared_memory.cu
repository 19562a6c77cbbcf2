// A warp publishes a value in shared memory by a release store that another warp acquires.
//
// Right: that orders what lies before the one and behind the other.
#include <cuda_runtime.h>

__global__ void kernel(float* y) {
  __shared__ float value;
  __shared__ unsigned flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&flag));
  if (threadIdx.x == 0) {
    value = 5.0f;
    asm volatile("st.release.cta.shared.u32 [%0], %1;" ::"r"(address), "r"(1) : "memory");
  } else if (threadIdx.x == 32) {
    unsigned ready = 0;
    while (ready == 0)
      asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(ready) : "r"(address) : "memory");
    y[0] = value;
  }
}

int main() {
  float* y;
  cudaMalloc(&y, sizeof(float));
  kernel<<<1, 64>>>(y);
  float got = 0;
  cudaMemcpy(&got, y, sizeof got, cudaMemcpyDeviceToHost);
  cudaFree(y);
  return got == 5.0f ? 0 : 1;
}
