#pragma once
// Comes before the kernel of a lesson: CUDA's header, which nvcc includes by itself, and the standard headers
// that device/cuda_check.hpp brings to all of them. g++ reads it precompiled.

#ifdef SIMT_CHECK
#include <string.h>

// The standard library copies and fills by these builtins. Where it knows the size, the compiler would make
// loads and stores of them that no hook sees; a call is seen. Templates, since a constexpr function of theirs
// may call them.
namespace simt::shim {
template <class Byte = void>
[[gnu::always_inline]] constexpr Byte* seen_memcpy(Byte* to, const void* from, __SIZE_TYPE__ bytes) {
  return ::memcpy(to, from, bytes);
}
template <class Byte = void>
[[gnu::always_inline]] constexpr Byte* seen_memmove(Byte* to, const void* from, __SIZE_TYPE__ bytes) {
  return ::memmove(to, from, bytes);
}
template <class Byte = void>
[[gnu::always_inline]] constexpr Byte* seen_memset(Byte* to, int value, __SIZE_TYPE__ bytes) {
  return ::memset(to, value, bytes);
}
}  // namespace simt::shim
#define __builtin_memcpy ::simt::shim::seen_memcpy<void>
#define __builtin_memmove ::simt::shim::seen_memmove<void>
#define __builtin_memset ::simt::shim::seen_memset<void>
#endif

#include "cuda_runtime.h"

#include <stdexcept>
#include <string>

// In both modes, since a kernel could ask for a macro of theirs. Check mode needs them here, where they copy
// by calls.
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>
#ifdef SIMT_CHECK
#undef __builtin_memcpy
#undef __builtin_memmove
#undef __builtin_memset
#endif
