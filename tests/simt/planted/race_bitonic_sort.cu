// A bitonic sort uses __syncwarp() for strides below 32, but the stride after 1 is large again and crosses
// warps. A step that reads other warps' elements needs __syncthreads() behind the step before it, whatever
// that one did.
//
// expect: race at A, other side B
// expect: race at B, other side B
#include <cuda_runtime.h>

__global__ void sort(int* x) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int size = 2; size <= 128; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const int partner = t ^ stride;
      if (partner > t) {
        const int low = s[t], high = s[partner];                               // A
        if ((low > high) == ((t & size) == 0)) s[t] = high, s[partner] = low;  // B
      }
      if (stride >= 32)
        __syncthreads();
      else
        __syncwarp();
    }
  __syncthreads();
  x[t] = s[t];
}

int main() {
  int values[128], *x;
  for (int i = 0; i < 128; ++i) values[i] = i * 53 % 128;
  cudaMalloc(&x, sizeof values);
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  sort<<<1, 128>>>(x);
  cudaMemcpy(values, x, sizeof values, cudaMemcpyDeviceToHost);
  cudaFree(x);
  return 0;
}
