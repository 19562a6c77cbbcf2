// Two stages of cp.async, a group in flight while the other is used.
//
// The barrier behind the wait makes the copies of all threads visible; the one at the end frees the stage.
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  __shared__ float stage[2][32];
  const unsigned t = threadIdx.x;
  unsigned to[2] = {static_cast<unsigned>(__cvta_generic_to_shared(&stage[0][t])),
                    static_cast<unsigned>(__cvta_generic_to_shared(&stage[1][t]))};
  float sum = 0.0f;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group;" ::"r"(to[0]), "l"(&x[t])
               : "memory");
  for (int step = 0; step < 2; ++step) {
    if (step + 1 < 2)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to[1]), "l"(&x[32 + t]) : "memory");
    asm volatile("cp.async.commit_group; cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    sum += stage[step][31 - t];
    __syncthreads();
  }
  y[t] = sum;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  kernel<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
