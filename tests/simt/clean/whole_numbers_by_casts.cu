// Looks like a round trip that a compiler may shorten to truncf(x). It is none: an integer has no -0.

#include <cuda_runtime.h>

#include <cmath>

__global__ void round_kernel(float* rounded, const float* values) {
  const int i = threadIdx.x;
  rounded[i] = static_cast<float>(static_cast<int>(values[i]));
}

int main() {
  constexpr int kCount = 6;
  const float values[kCount] = {-0.0f, -0.75f, 0.75f, -2.5f, 2.5f, 16777215.0f};
  const float expected[kCount] = {0.0f, 0.0f, 0.0f, -2.0f, 2.0f, 16777215.0f};
  float *device_values = nullptr, *device_rounded = nullptr, rounded[kCount];
  cudaMalloc(&device_values, sizeof values);
  cudaMalloc(&device_rounded, sizeof rounded);
  cudaMemcpy(device_values, values, sizeof values, cudaMemcpyHostToDevice);
  round_kernel<<<1, kCount>>>(device_rounded, device_values);
  cudaMemcpy(rounded, device_rounded, sizeof rounded, cudaMemcpyDeviceToHost);
  cudaFree(device_values);
  cudaFree(device_rounded);
  int wrong = 0;
  for (int i = 0; i < kCount; ++i)
    wrong += rounded[i] != expected[i] || std::signbit(rounded[i]) != std::signbit(expected[i]);
  return wrong == 0 ? 0 : 1;
}
