// Shared variables of every kind of function that a kernel comes to: templates, functions that hand out a
// pointer to their own, lambdas; declared in a macro, as an unusual declarator, or jumped over.

#include <cstdio>

constexpr int kThreads = 64;
#define TILE(type, name) __shared__ type name[kThreads]

template <class T, int kScale>
__device__ T scaled_neighbour(T value) {
  __shared__ T values[kThreads];
  values[threadIdx.x] = kScale * value;
  __syncthreads();
  return values[(threadIdx.x + 1) % kThreads];
}

__device__ float* scratch() {
  __shared__ float memory[kThreads];
  return memory;
}

__device__ float behind_macro(float value) {
  TILE(float, tile);
  tile[threadIdx.x] = value;
  __syncthreads();
  return tile[kThreads - 1 - threadIdx.x];
}

__device__ float behind_parentheses(float value) {
  __shared__ float(tile)[kThreads];
  tile[threadIdx.x] = value;
  __syncthreads();
  return tile[kThreads - 1 - threadIdx.x];
}

__device__ float jumped_over(float value, int how) {
  switch (how) {
    case 0:
      __shared__ float tile[kThreads];
      return value;
    default:
      tile[threadIdx.x] = value;
      __syncthreads();
      return tile[kThreads - 1 - threadIdx.x];
  }
}

__global__ void tour(float* x, int how) {
  __shared__ struct {
    float sum[kThreads];
    int count;
  } state;
  const unsigned i = threadIdx.x;
  if (i == 0) state.count = 1;
  float value = scaled_neighbour<float, 2>(x[i]) + scaled_neighbour<int, 3>(static_cast<int>(i));
  float* const own = scratch();
  own[i] = value;
  value += own[i] + behind_macro(value) + behind_parentheses(value) + jumped_over(value, how);
  const auto reversed = [](float v) {
    __shared__ float tile[kThreads];
    tile[threadIdx.x] = v;
    __syncthreads();
    return tile[kThreads - 1 - threadIdx.x];
  };
  state.sum[i] = reversed(value);
  __syncthreads();
  x[i] = state.sum[kThreads - 1 - i] * state.count;
}

int main() {
  float *x, first;
  cudaMalloc(&x, kThreads * sizeof(float));
  cudaMemset(x, 0, kThreads * sizeof(float));
  tour<<<1, kThreads>>>(x, 1);
  tour<<<1, kThreads>>>(x, 1);
  cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
  std::printf("%g\n", first);
  cudaFree(x);
}
