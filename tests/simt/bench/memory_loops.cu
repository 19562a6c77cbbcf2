// Loops bound by memory, over 32 million elements: 20 rounds of y = a x + y with a grid that strides, the
// same with a thread an element, and a sum. `./course simulate tests/simt/bench/memory_loops.cu` is to end in
// a minute on two cores.

#include <cuda_runtime.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <vector>

constexpr int kCount = 1 << 25, kThreads = 256, kRounds = 20;

__global__ void saxpy_strided_kernel(float a, const float* x, float* y) {
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < kCount; i += gridDim.x * kThreads)
    y[i] = a * x[i] + y[i];
}
__global__ void saxpy_kernel(float a, const float* x, float* y) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < kCount) y[i] = a * x[i] + y[i];
}
__global__ void sum_kernel(const float* x, double* sum) {
  __shared__ double sums[kThreads];
  double own = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < kCount; i += gridDim.x * kThreads) own += x[i];
  sums[threadIdx.x] = own;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, sums[0]);
}

int main() {
  const std::vector<float> ones(kCount, 1.0f);
  const std::size_t bytes = kCount * sizeof(float);
  float *x, *y;
  double *sum, total = 0;
  cudaMalloc(&x, bytes);
  cudaMalloc(&y, bytes);
  cudaMalloc(&sum, sizeof *sum);
  cudaMemcpy(x, ones.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(y, ones.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(sum, &total, sizeof total, cudaMemcpyHostToDevice);
  const std::clock_t cpu_start = std::clock();
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < kRounds; ++round) {  // each adds 1 to y
    saxpy_strided_kernel<<<1024, kThreads>>>(0.5f, x, y);
    saxpy_kernel<<<kCount / kThreads, kThreads>>>(0.5f, x, y);
    sum_kernel<<<512, kThreads>>>(y, sum);
  }
  const cudaError_t error = cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  std::printf("kernels: %.2f s, %.2f s of processor time\n", time.count(),
              static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
  cudaFree(x);
  cudaFree(y);
  cudaFree(sum);
  const double expected = static_cast<double>(kCount) * (kRounds * (kRounds + 3) / 2.0);
  return error == cudaSuccess && total == expected ? 0 : 1;
}
