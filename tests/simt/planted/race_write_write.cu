// The first and the last warp of a block both leave their result in the same shared element. Two writes to
// one element without a barrier in between: which one stays is not defined.
//
// expect: race at A, other side B, edges[0]
#include <cuda_runtime.h>

__global__ void find_edges(const float* x, float* out) {
  __shared__ float edges[2];
  const int t = threadIdx.x, last = blockDim.x - 1;
  if (t == 0) edges[0] = x[0];               // A
  if (t == last) edges[0] = x[last] + 1.0f;  // B
  if (t == 32) edges[1] = x[32];
  __syncthreads();
  out[t] = x[t] - edges[0] - edges[1];
}

int main() {
  float *x, *out;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&out, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  find_edges<<<1, 64>>>(x, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
  return 0;
}
