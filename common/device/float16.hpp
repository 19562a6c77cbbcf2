#pragma once
/// @file
/// Numbers of 16 bits in kernels. A contract says View<const bfloat16, 4>, in a type that is free of CUDA; a
/// kernel sees the same memory as __nv_bfloat16, and is written once for both types:
///
///     template <class T>  // __nv_bfloat16 or __half
///     __global__ void scale_kernel(View<const T, 1> x, View<T, 1> y, float factor) {
///       ... y(i) = rounded_to<T>(factor * to_float(x(i)));
///     }
///     void scale(View<const bfloat16, 1> x, View<bfloat16, 1> y, float factor) {
///       scale_kernel<<<blocks, threads>>>(on_device(x), on_device(y), factor);
///     }

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "tensor/float16.hpp"
#include "tensor/view.hpp"

namespace course::device {

// [types]
/// CUDA's type for the elements of a contract's array: __nv_bfloat16 for bfloat16, __half for float16, and
/// any other type itself; const where the element is.
template <class T>
struct DeviceType {
  using type = T;
};
template <>
struct DeviceType<bfloat16> {
  using type = __nv_bfloat16;
};
template <>
struct DeviceType<float16> {
  using type = __half;
};
template <class T>
struct DeviceType<const T> {
  using type = const typename DeviceType<T>::type;
};
template <class T>
using device_type = typename DeviceType<T>::type;

/// @brief The same array as kernels see it. Nothing is moved or copied.
///
/// Both types have the same 16 bits. A contract's type is a name for them until here: device memory gets its
/// bytes from cudaMemcpy, and from here on kernels read and write them as CUDA's type alone. So no number is
/// ever written as one type and read as the other, which C++ would not allow.
template <class T>
__host__ __device__ device_type<T>* on_device(T* data) {
  static_assert(sizeof(device_type<T>) == sizeof(T) && alignof(device_type<T>) == alignof(T));
  return reinterpret_cast<device_type<T>*>(data);
}
template <class T, int kRank>
__host__ __device__ View<device_type<T>, kRank> on_device(const View<T, kRank>& x) {
  View<device_type<T>, kRank> view{on_device(x.data), {}, {}};
  for (int axis = 0; axis < kRank; ++axis) {
    view.shape[axis] = x.shape[axis];
    view.strides[axis] = x.strides[axis];
  }
  return view;
}
// [types]

// [numbers]
/// Two numbers that travel as one word of 32 bits; the first is its lower half.
template <class T>
struct PairOf;
template <>
struct PairOf<__nv_bfloat16> {
  using type = __nv_bfloat162;
};
template <>
struct PairOf<__half> {
  using type = __half2;
};
template <>
struct PairOf<float> {
  using type = float2;  // of 64 bits: results that stay in float32 come in pairs, too
};
template <class T>
using pair_of = typename PairOf<T>::type;

/// @brief The number as float, exactly.
inline __device__ float to_float(float x) { return x; }
inline __device__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
inline __device__ float to_float(__half x) { return __half2float(x); }
inline __device__ float2 to_float(__nv_bfloat162 x) { return __bfloat1622float2(x); }
inline __device__ float2 to_float(__half2 x) { return __half22float2(x); }

/// @brief The number of T nearest to x, half way to even; x itself for float. Past the largest __half, 65504,
/// it is infinite: what cannot be kept below that stays in float.
template <class T>
__device__ T rounded_to(float x) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __float2bfloat16_rn(x);
  } else if constexpr (std::is_same_v<T, __half>) {
    return __float2half_rn(x);
  } else {
    static_assert(std::is_same_v<T, float>, "T is __nv_bfloat16, __half or float");
    return x;
  }
}

/// @brief The same for two numbers at once, which costs no more than one.
template <class T>
__device__ pair_of<T> rounded_to(float x, float y) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __floats2bfloat162_rn(x, y);
  else if constexpr (std::is_same_v<T, __half>)
    return __floats2half2_rn(x, y);
  else
    return make_float2(x, y);
}

/// @brief The two numbers as the word of 32 bits that an instruction for tensor cores takes.
template <class Pair>
__device__ std::uint32_t word_of(Pair pair) {
  static_assert(std::is_same_v<Pair, __nv_bfloat162> || std::is_same_v<Pair, __half2>);
  if constexpr (std::is_same_v<Pair, __nv_bfloat162>)
    return std::uint32_t{__bfloat16_as_ushort(pair.y)} << 16 | __bfloat16_as_ushort(pair.x);
  else
    return std::uint32_t{__half_as_ushort(pair.y)} << 16 | __half_as_ushort(pair.x);
}
// [numbers]

}  // namespace course::device
