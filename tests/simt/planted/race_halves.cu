// Halves are exchanged between the warps of a block through shared memory with no barrier in between. A
// 2-byte element is shared memory like any other: its readers in other warps need __syncthreads().
//
// expect: race at A, other side B
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Rotary embedding: element i is paired with element i + 64 of a head of 128.
__global__ void rotate_halves(const __half* q, __half* out, float angle) {
  __shared__ __half head[128];
  const int t = threadIdx.x;
  head[t] = q[blockIdx.x * 128 + t];                         // A
  const float partner = __half2float(head[(t + 64) % 128]);  // B
  const float sign = t < 64 ? -1.0f : 1.0f;
  out[blockIdx.x * 128 + t] =
      __float2half(__half2float(q[blockIdx.x * 128 + t]) * cosf(angle) + sign * partner * sinf(angle));
}

int main() {
  __half *q, *out;
  cudaMalloc(&q, 256 * sizeof(__half));
  cudaMalloc(&out, 256 * sizeof(__half));
  cudaMemset(q, 0, 256 * sizeof(__half));
  rotate_halves<<<2, 128>>>(q, out, 0.5f);
  cudaDeviceSynchronize();
  cudaFree(q);
  cudaFree(out);
  return 0;
}
