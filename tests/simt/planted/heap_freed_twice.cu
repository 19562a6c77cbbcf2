// Each thread of the block frees the memory that one of them has allocated. One free for one malloc.
//
// expect: illegal_address at A
#include <cuda_runtime.h>

__global__ void sum_of_squares(float* out) {
  __shared__ float* scratch;
  const int thread = threadIdx.x;
  if (thread == 0) scratch = static_cast<float*>(malloc(32 * sizeof(float)));
  __syncthreads();
  scratch[thread] = 1.0f * thread * thread;
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i <= thread; ++i) sum += scratch[i];
  out[thread] = sum;
  __syncthreads();
  free(scratch);  // A
}

int main() {
  float* d_out;
  cudaMalloc(&d_out, 32 * sizeof(float));
  sum_of_squares<<<1, 32>>>(d_out);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(d_out);
  return error == cudaSuccess ? 0 : 1;
}
