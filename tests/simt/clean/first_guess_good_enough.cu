// Looks wrong: threads read the maximum with a plain load while others update it, and some then leave it at
// that. It is right: the load is the first guess of a compare-and-swap loop. The maximum only grows, so a
// thread whose value is not above an old one need not try.

#include <cuda_runtime.h>

__device__ void raise_to(float* address, float value) {
  int* const bits = reinterpret_cast<int*>(address);
  int old = *bits;
  while (value > __int_as_float(old)) {
    const int assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(value));
    if (old == assumed) break;
  }
}

__global__ void maximum_kernel(float* maximum, const float* values) {
  raise_to(maximum, values[blockIdx.x * blockDim.x + threadIdx.x]);
}

int main() {
  float host[256], *maximum = nullptr, *values = nullptr;
  for (int i = 0; i < 256; ++i) host[i] = static_cast<float>(i * 37 % 101);
  cudaMalloc(&maximum, sizeof(float));
  cudaMalloc(&values, sizeof host);
  cudaMemset(maximum, 0, sizeof(float));
  cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
  maximum_kernel<<<4, 64>>>(maximum, values);
  cudaMemcpy(host, maximum, sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(maximum);
  cudaFree(values);
  return host[0] == 100.0f ? 0 : 1;
}
