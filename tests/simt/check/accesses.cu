// Accesses by ways that kernels seldom take: each of them is in the counts of its launch, or finds nothing.
// See accesses_test.py.

#include <cuda_runtime.h>

#include <cstdlib>
#include <cuda/atomic>
#include <cuda/pipeline>

constexpr int kRounds = 10;

__device__ float* piece;

/// Each lane stores to the heap ten times, and loads what it stored.
__global__ void heap(float* y) {
  if (threadIdx.x == 0) piece = static_cast<float*>(malloc(32 * sizeof(float)));
  __syncwarp();
  float sum = 0.0f;
  float* volatile box = piece;
#pragma unroll 1
  for (int i = 0; i < kRounds; ++i) {
    box[threadIdx.x] = sum + 1.0f;
    sum += box[threadIdx.x];
  }
  y[threadIdx.x] = sum;
}

/// Loads ten times what an earlier launch has left on the heap.
__global__ void heap_of_earlier_launch(float* y) {
  float sum = 0.0f;
  const volatile float* box = piece;
#pragma unroll 1
  for (int i = 0; i < kRounds; ++i) sum += box[threadIdx.x];
  y[threadIdx.x] = sum;
}

/// One atomic of CUDA, then ten stores and ten loads at the same place, by builtins of the compiler.
__global__ void builtins_behind_atomic(unsigned* y) {
  __shared__ unsigned boxes[32];
  unsigned* const box = &boxes[threadIdx.x];
  atomicExch(box, 0u);
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < kRounds; ++i) {
    __atomic_store_n(box, sum + 1, __ATOMIC_SEQ_CST);
    sum += __atomic_load_n(box, __ATOMIC_SEQ_CST);
  }
  y[threadIdx.x] = sum;
}

/// Ten comparisons of CUDA, none of which succeeds, each with a load by a builtin behind it.
__global__ void builtins_behind_comparison(unsigned* y) {
  __shared__ unsigned boxes[32];
  unsigned* const box = &boxes[threadIdx.x];
  *box = 1;
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < kRounds; ++i) {
    sum += atomicCAS(box, 7u, 8u);
    sum += __atomic_load_n(box, __ATOMIC_SEQ_CST);
  }
  y[threadIdx.x] = sum;
}

/// Ten comparisons by a builtin, none of which succeeds: each leaves what it has found in place of what it
/// expected, which has been stored to shared memory.
__global__ void expected_in_shared_memory(unsigned* y) {
  __shared__ unsigned boxes[32], expected[32];
  boxes[threadIdx.x] = 1;
#pragma unroll 1
  for (int i = 0; i < kRounds; ++i) {
    expected[threadIdx.x] = 7;
    __atomic_compare_exchange_n(&boxes[threadIdx.x], &expected[threadIdx.x], 8u, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
  }
  y[threadIdx.x] = expected[threadIdx.x];
}

/// Ten loads of CUDA, each with one by a builtin behind it.
__global__ void builtins_behind_loads(unsigned* y) {
  __shared__ unsigned boxes[32];
  boxes[threadIdx.x] = 1;
  const cuda::atomic_ref<unsigned, cuda::thread_scope_block> box(boxes[threadIdx.x]);
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < kRounds; ++i) {
    sum += box.load(cuda::memory_order_relaxed);
    sum += __atomic_load_n(&boxes[threadIdx.x], __ATOMIC_SEQ_CST);
  }
  y[threadIdx.x] = sum;
}

/// Stores to local memory, and says what it found there.
__global__ void own_stack(unsigned* found) {
  constexpr unsigned kMark = 0x5ca1ab1e;
  volatile unsigned left[1024];
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < 1024; ++i) {
    sum += left[i] == kMark ? 1u : 0u;
    left[i] = kMark;
  }
  atomicAdd(found, sum);
}

/// Each lane tells the others ten bits, by the branch in which it asks for the active lanes.
__device__ __noinline__ unsigned lanes_with_the_bit() { return __activemask(); }
__device__ __noinline__ unsigned lanes_without_it() { return ~__activemask(); }
__global__ void bits_by_active_masks(unsigned* y) {
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < kRounds; ++i) {
    sum += (threadIdx.x + i) % 2 != 0 ? lanes_with_the_bit() : lanes_without_it();
    __syncwarp();
  }
  y[threadIdx.x] = sum;
}

/// Adds four floats at once.
__global__ void four_floats(float4* sums) {
  atomicAdd(&sums[threadIdx.x], make_float4(1.0f, 2.0f, 3.0f, 4.0f));
}

/// Two stores by which others may be told something, and one that tells nothing.
__global__ void flags(unsigned* y) {
  unsigned* const mine = y + threadIdx.x;
  *static_cast<volatile unsigned*>(mine) = 1;
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(mine), "r"(2) : "memory");
  *mine = 3;
}

/// 16 bytes a lane by pointers to float, then with a promise of their alignment, and two bytes.
__global__ void copies_by_types(const float* x, float* y) {
  __shared__ alignas(16) float tile[2][32][4];
  __shared__ char letters[32][2];
  const unsigned lane = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(tile[0][lane], &x[4 * lane], 4 * sizeof(float), pipe);
  cuda::memcpy_async(tile[1][lane], &x[4 * lane], cuda::aligned_size_t<16>(4 * sizeof(float)), pipe);
  cuda::memcpy_async(letters[lane], reinterpret_cast<const char*>(&x[lane]), 2, pipe);
  const char letter = letters[lane][1];  // so small a copy is made at once
  pipe.producer_commit();
  pipe.consumer_wait();
  y[lane] = tile[0][lane][3] + tile[1][lane][3] + static_cast<float>(letter);
  pipe.consumer_release();
}

void launch_all(float* floats, unsigned* numbers) {
  heap<<<1, 32>>>(floats);
  heap_of_earlier_launch<<<1, 32>>>(floats);
  builtins_behind_atomic<<<1, 32>>>(numbers);
  builtins_behind_comparison<<<1, 32>>>(numbers);
  expected_in_shared_memory<<<1, 32>>>(numbers);
  builtins_behind_loads<<<1, 32>>>(numbers);
  bits_by_active_masks<<<1, 32>>>(numbers);
  four_floats<<<1, 32>>>(reinterpret_cast<float4*>(floats));
  flags<<<1, 32>>>(numbers);
  cudaMemset(floats, 0, 128 * sizeof(float));
  copies_by_types<<<1, 32>>>(floats, reinterpret_cast<float*>(numbers));
}

#line 1 "/usr/include/nothing.h"
/// Ten loads and a store in lines that belong to nobody.
__global__ void no_lines(const float* x, float* y) {
  float sum = 0.0f;
#pragma unroll 1
  for (int i = 0; i < 10; ++i) sum += x[threadIdx.x + i];
  y[threadIdx.x] = sum;
}

int main() {
  float *x = nullptr, *y = nullptr;
  unsigned* numbers = nullptr;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 128 * sizeof(float));
  cudaMalloc(&numbers, 64 * sizeof(unsigned));
  cudaMemset(x, 0, 64 * sizeof(float));
  cudaMemset(y, 0, 128 * sizeof(float));
  launch_all(y, numbers);
  no_lines<<<1, 32>>>(x, y);
  unsigned found = 1;
  cudaMemset(numbers, 0, sizeof found);
  own_stack<<<2, 32>>>(numbers);
  cudaMemcpy(&found, numbers, sizeof found, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  cudaFree(numbers);
  return cudaGetLastError() == cudaSuccess && found == 0 ? 0 : 1;  // a thread finds no other's local memory
}
