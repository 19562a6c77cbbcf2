// Looks wrong: the same addresses are read as floats and as bytes that an earlier program part wrote as
// something else. It is right: each allocation is written before it is read; that an address was used before
// means nothing.

#include <cuda_runtime.h>

template <class T>
__global__ void fill_kernel(T* values, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] = static_cast<T>(i % 100);
}

template <class T>
__global__ void shift_kernel(const T* in, T* out, int n) {
  for (int i = n - 1 - threadIdx.x; i >= 0; i -= blockDim.x) out[i] = in[(i + 1) % n];
}

template <class T>
bool shifts(int n) {
  T *d_in, *d_out, out[300];
  cudaMalloc(&d_in, n * sizeof(T));
  cudaMalloc(&d_out, n * sizeof(T));
  fill_kernel<<<1, 32>>>(d_in, n);
  shift_kernel<<<1, 96>>>(d_in, d_out, n);
  cudaMemcpy(out, d_out, n * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(d_out);
  cudaFree(d_in);
  for (int i = 0; i < n; ++i)
    if (out[i] != static_cast<T>((i + 1) % n % 100)) return false;
  return true;
}

int main() {
  for (int round = 0; round < 3; ++round)
    if (!shifts<float>(100 + round) || !shifts<unsigned char>(300 - round) || !shifts<double>(77)) return 1;
  return 0;
}
