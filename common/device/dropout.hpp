#pragma once
/// @file
/// Lesson 18's dropout, for kernels that ask for one weight at a time, or for those of a lane's fragments.

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "device/philox.hpp"

namespace course::device {

/// Which weights are dropped. Nothing is stored: who needs to know asks again.
struct Dropout {
  std::uint32_t threshold;  ///< a weight is dropped if its word is less; 0: none is
  float factor;             ///< what those that are kept are multiplied by
  std::uint64_t seed;

  __device__ bool keeps(int batch, int head, int query, int key) const {
    const std::uint32_t place[4] = {static_cast<std::uint32_t>(key / 4), static_cast<std::uint32_t>(query),
                                    static_cast<std::uint32_t>(head), static_cast<std::uint32_t>(batch)};
    std::uint32_t words[4];
    device::philox(place, seed, words);
    const std::uint32_t even = key % 4 < 2 ? words[0] : words[2], odd = key % 4 < 2 ? words[1] : words[3];
    return (key % 2 == 0 ? even : odd) >= threshold;
  }

  /// Bit n is whether the weight of pair n is kept; `at(n)` is its query and key. At most 32 pairs of a head.
  template <int kPairs, class At>
  __device__ std::uint32_t kept_of(int batch, int head, At at) const {
    static_assert(kPairs <= 32, "a bit for each pair");
    std::uint32_t kept = 0;
    for (int n = 0; n < kPairs; ++n) {
      const auto [query, key] = at(n);
      if (keeps(batch, head, query, key)) kept |= 1u << n;
    }
    return kept;
  }
};

/// @throws std::invalid_argument unless dropout is at least 0 and less than 1.
inline Dropout dropout_of(float dropout, std::uint64_t seed) {
  if (!(dropout >= 0.0f && dropout < 1.0f))  // so that NaN is refused, too
    throw std::invalid_argument("dropout must be at least 0 and less than 1, but it is " +
                                std::to_string(dropout) + ".");
  return {static_cast<std::uint32_t>(static_cast<double>(dropout) * 0x1p32),
          static_cast<float>(1.0 / (1.0 - static_cast<double>(dropout))), seed};
}

}  // namespace course::device
