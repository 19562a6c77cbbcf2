#pragma once
// Just enough of CUDA to compile rewritten files without the simulator. A launch runs its threads one after
// the other.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#define __SIMT__ 1
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ static thread_local
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

#define SIMT_DYNAMIC_SHARED static thread_local
#define SIMT_DYNAMIC_LABEL
#define SIMT_NAME_SHARED(variable)
#define SIMT_NAME_VIEW(variable)
#define SIMT_NAME_MEMBER(variable, access, member)
#define SIMT_SEEN_AS(pointer, variable, names, ...) pointer
#define SIMT_NAME_PARAMETERS(...)
#define SIMT_LAUNCH_BOUNDS(threads) static_assert(threads > 0)
#define SIMT_PTX(...) std::abort()

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct int2 {
  int x, y;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;
constexpr int warpSize = 32;

using cudaError_t = int;
using cudaStream_t = struct Stream*;
constexpr cudaError_t cudaSuccess = 0;
enum { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaFuncAttributeMaxDynamicSharedMemorySize };
template <class T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
  *pointer = static_cast<T*>(std::malloc(bytes));
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, int) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  std::memset(pointer, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* pointer) {
  std::free(pointer);
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreate(cudaStream_t*) { return cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "no error"; }
template <class Function>
cudaError_t cudaFuncSetAttribute(Function*, int, int) {
  return cudaSuccess;
}

inline void __syncthreads() {}
inline void __syncwarp(unsigned = 0xffffffffu) {}
template <class T>
T __shfl_down_sync(unsigned, T value, int, int = 32) {
  return value;
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int, int = 32) {
  return value;
}
template <class T>
T __ldg(const T* pointer) {
  return *pointer;
}
template <class T>
T atomicAdd(T* pointer, T value) {
  const T before = *pointer;
  *pointer += value;
  return before;
}
inline float __expf(float x) { return std::exp(x); }

namespace simt {

struct LaunchConfig {
  dim3 grid, block;
  std::size_t bytes;
  cudaStream_t stream;
  LaunchConfig(dim3 grid_, dim3 block_ = 1, std::size_t bytes_ = 0, cudaStream_t stream_ = nullptr)
      : grid(grid_), block(block_), bytes(bytes_), stream(stream_) {}
};

inline const char* last_kernel = "";

struct Zero {};
inline int as_number(Zero&) { return 0; }
template <class T>
T& as_number(T& argument) {
  return argument;
}

template <class Kernel, class Call>
auto launch(const char* name, const LaunchConfig& config, Kernel, Call call) {
  return [=](auto... arguments) {
    last_kernel = name;
    gridDim = config.grid;
    blockDim = config.block;
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
      for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) call(arguments...);
  };
}

alignas(128) inline thread_local char dynamic_memory[4096];

template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(dynamic_memory);
}

}  // namespace simt
