// Loads and stores with a cache hint. A CPU has no use for the hint: each is one plain access.
#pragma once

#include "simt_vector_types.h"

namespace simt::shim {
// Keeps a parameter out of template argument deduction, so that __stcs(float_pointer, 0) converts as it does
// in CUDA.
template <class T>
struct Same {
  using type = T;
};
}  // namespace simt::shim

#define SIMT_LOAD(name)                                \
  template <class T>                                   \
  SIMT_SHIM_INLINE T name(const T* pointer) noexcept { \
    return *pointer;                                   \
  }
SIMT_LOAD(__ldg)   // read-only cache
SIMT_LOAD(__ldca)  // cache at all levels
SIMT_LOAD(__ldcg)  // cache in L2 only
SIMT_LOAD(__ldcs)  // streaming: likely read once
SIMT_LOAD(__ldlu)  // last use
#undef SIMT_LOAD

/// Fetches again from memory on every call.
template <class T>
SIMT_SHIM_INLINE T __ldcv(const T* pointer) noexcept {
  __asm__ volatile("" ::: "memory");
  return *pointer;
}

#define SIMT_STORE(name)                                                                      \
  template <class T>                                                                          \
  SIMT_SHIM_INLINE void name(T* pointer, typename simt::shim::Same<T>::type value) noexcept { \
    *pointer = value;                                                                         \
  }
SIMT_STORE(__stwb)  // write back at all levels
SIMT_STORE(__stcg)  // cache in L2 only
SIMT_STORE(__stcs)  // streaming
SIMT_STORE(__stwt)  // write through
#undef SIMT_STORE
