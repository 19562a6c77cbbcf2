// Looks wrong: some threads load two elements, the pointer points before the array, and the ends are guarded
// one by one. It is right: each shared element is written by one thread, and nothing outside the array is
// ever dereferenced.

#include <cuda_runtime.h>

constexpr int kThreads = 64, kRadius = 3;

__global__ void sum_window_kernel(const int* in, int* out, int n) {
  __shared__ int window[kThreads + 2 * kRadius];
  const int first = blockIdx.x * kThreads - kRadius;
  for (int i = threadIdx.x; i < kThreads + 2 * kRadius; i += kThreads)
    window[i] = first + i >= 0 && first + i < n ? in[first + i] : 0;
  __syncthreads();
  const int index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= n) return;
  int sum = 0;
  for (int offset = 0; offset <= 2 * kRadius; ++offset) sum += window[threadIdx.x + offset];
  out[index] = sum;
}

int main() {
  constexpr int kN = 150;
  int in[kN], out[kN] = {}, *d_in, *d_out;
  for (int i = 0; i < kN; ++i) in[i] = i * i % 53;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  sum_window_kernel<<<(kN + kThreads - 1) / kThreads, kThreads>>>(d_in, d_out, kN);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < kN; ++i) {
    int expected = 0;
    for (int j = i - kRadius; j <= i + kRadius; ++j) expected += j >= 0 && j < kN ? in[j] : 0;
    if (out[i] != expected) return 1;
  }
  return 0;
}
