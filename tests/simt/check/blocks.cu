// Basic blocks that begin with an access, with none, or with one that nobody watches: what they compute is
// counted once for each time that a warp goes through them. See blocks_test.py.

#include <cuda_runtime.h>

constexpr int kThreads = 32, kRounds = 10;

/// Ten products and sums, each after a read.
__global__ void read_first(const float* x, float* y) {
  float sum = 0.0f;
#pragma unroll 1
  for (int i = 0; i < kRounds; ++i) sum += x[i] * x[i + 1];
  y[threadIdx.x] = sum;
}

/// Ten sums in a block without an access.
__global__ void no_access(int rounds, float step, float* y) {
  float sum = 0.0f;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) sum = sum + step;
  y[threadIdx.x] = sum;
}

#define TEN_TIMES(STATEMENT) \
  STATEMENT STATEMENT STATEMENT STATEMENT STATEMENT STATEMENT STATEMENT STATEMENT STATEMENT STATEMENT

/// Ten thousand sums in one block.
__global__ void long_block(float step, float* y) {
  float sum = 0.0f;
  TEN_TIMES(TEN_TIMES(TEN_TIMES(TEN_TIMES(sum = sum + step;))))
  y[threadIdx.x] = sum;
}

__device__ __noinline__ void scale(float* values, int count, float factor) {
#pragma unroll 1
  for (int i = 0; i < count; ++i) values[i] *= factor;
}

/// Ten products, each after a read of the thread's own memory.
__global__ void own_memory(float factor, float* y) {
  float own[kRounds];
  for (int i = 0; i < kRounds; ++i) own[i] = static_cast<float>(i);
  scale(own, kRounds, factor);
  y[threadIdx.x] = own[threadIdx.x % kRounds];
}

/// Ten products, each after an index and an address that are checked, in a function that the linker keeps
/// once.
template <int kCount>
__global__ void checked_index(const int* order, float* y) {
  __shared__ float tile[kCount];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < kRounds; ++i) y[threadIdx.x * kRounds + i] = tile[order[i]] * 3.0f;
}

/// Half of the lanes go round six times, the others ten times: the warp goes round ten times.
__global__ void apart(const float* x, float* y) {
  const int rounds = threadIdx.x % 2 == 0 ? 6 : kRounds;
  float sum = 0.0f;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) sum += x[i] * x[i + 1];
  y[threadIdx.x] = sum;
}

/// Ten quotients: half of the lanes divide what they have read, and then the other half.
__global__ void either(const float* x, float* y) {
#pragma unroll 1
  for (int i = 0; i < kRounds / 2; ++i) {
    if (threadIdx.x % 2 == 0)
      y[threadIdx.x] = 1.0f / x[i];
    else
      y[threadIdx.x] = 2.0f / x[i + 1];
  }
}

/// Five times a product with a sum, a product, and a pair of sums, by instructions of PTX; and a last sum.
__global__ void by_ptx(float step, float* y) {
  float sum = 0.0f;
  unsigned halves = 0;
#pragma unroll 1
  for (int i = 0; i < kRounds / 2; ++i) {
    asm("fma.rn.f32 %0, %1, %1, %0;" : "+f"(sum) : "f"(step));
    asm("{ .reg .f32 t; mul.f32 t, %1, %1; mov.f32 %0, t; }" : "=f"(sum) : "f"(sum));
    asm("add.rn.f16x2 %0, %0, %0;" : "+r"(halves));
  }
  y[threadIdx.x] = sum + __uint_as_float(halves);
}

int main() {
  float *x, *y;
  int* order;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, kThreads * kRounds * sizeof(float));
  cudaMalloc(&order, kRounds * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(float));
  cudaMemset(order, 0, kRounds * sizeof(int));
  read_first<<<1, kThreads>>>(x, y);
  no_access<<<1, kThreads>>>(kRounds, 0.5f, y);
  long_block<<<1, kThreads>>>(1.0f, y);
  own_memory<<<1, kThreads>>>(0.5f, y);
  checked_index<kThreads><<<1, kThreads>>>(order, y);
  apart<<<1, kThreads>>>(x, y);
  either<<<1, kThreads>>>(x, y);
  by_ptx<<<1, kThreads>>>(0.5f, y);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  cudaFree(order);
  return error == cudaSuccess ? 0 : 1;
}
