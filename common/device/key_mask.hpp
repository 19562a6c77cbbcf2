#pragma once
/// @file
/// Which keys a query sees, with every mask of the course, in 32 bits: lesson 17's rule for kernels that ask
/// it of many elements at a time.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "tensor/view.hpp"

namespace course::device {

/// Query i stands at key i + offset(). The window is 1 to Nk, the sinks are 0 to Nk, which are as good as
/// more, and sequences have at most 2³⁰ rows: no sum overflows.
struct KeyMask {
  bool causal;
  int window, sinks, Nq, Nk;

  __host__ __device__ int offset() const { return Nk - Nq; }
  __host__ __device__ bool has_window() const { return window < Nk; }  ///< that may hide something
};

/// The keys that one query sees, counted from key `origin` on: those from first to last, and the sinks up to
/// last.
struct KeysOfQuery {
  int first, last, sinks;

  __device__ KeysOfQuery(const KeyMask& mask, int query, int origin)
      : first(query + mask.offset() - mask.window + 1 - origin),
        last((mask.causal ? min(query + mask.offset(), mask.Nk - 1) : mask.Nk - 1) - origin),
        sinks(mask.sinks - origin) {}

  __device__ bool ahead(int key) const { return key > last; }  ///< of the query, or past the last key
  __device__ bool too_old(int key) const { return key < first && key >= sinks; }
};

/// @brief The mask of an entry's arguments.
/// Shapes: Q is (B, H, Nq, D), K is (B, H_kv, Nk, D).
/// @throws std::invalid_argument, naming the argument, if a sequence has more than 2³⁰ rows, window is less
/// than 1 or sinks less than 0.
template <class T>
KeyMask key_mask_of(const View<T, 4>& Q, const View<T, 4>& K, bool causal, std::int64_t window,
                    std::int64_t sinks) {
  const auto require = [](bool fits, const char* sentence, std::int64_t is) {
    if (!fits) throw std::invalid_argument(sentence + std::to_string(is) + ".");
  };
  constexpr std::int64_t kMostRows = std::int64_t{1} << 30;
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2];
  require(Nq <= kMostRows, "Q must have at most 2^30 rows in each head, but it has ", Nq);
  require(Nk <= kMostRows, "K must have at most 2^30 rows in each head, but it has ", Nk);
  require(window >= 1, "window must be at least 1, but it is ", window);
  require(sinks >= 0, "sinks must not be negative, but it is ", sinks);
  return {causal, static_cast<int>(std::min(window, std::max(Nk, std::int64_t{1}))),
          static_cast<int>(std::min(sinks, Nk)), static_cast<int>(Nq), static_cast<int>(Nk)};
}

/// @throws std::invalid_argument, naming scale, unless it is finite and not negative.
inline void require_scale(float scale) {
  if (!(scale >= 0.0f && std::isfinite(scale)))
    throw std::invalid_argument("scale must be finite and not negative, but it is " + std::to_string(scale) +
                                ".");
}

}  // namespace course::device
