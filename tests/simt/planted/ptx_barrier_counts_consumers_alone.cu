// The count of a barrier is that of the consumers; the producer, who arrives as well, is not in it, and the
// barrier opens without it.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void hand_over(const unsigned short* in, float* out) {
  __shared__ unsigned short buffer[64];
  const int t = threadIdx.x;
  if (t < 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = buffer[63 - t];  // A
  } else {
    buffer[t - 64] = buffer[t - 32] = in[t - 64];  // B
  }
}

int main() {
  unsigned short* in;
  float* out;
  cudaMalloc(&in, 4096 * sizeof *in);
  cudaMalloc(&out, 1024 * sizeof *out);
  cudaMemset(in, 0, 4096 * sizeof *in);
  cudaMemset(out, 0, 1024 * sizeof *out);
  hand_over<<<1, 96>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
