#pragma once
// Generators of random numbers, as the runtime and the headers of cuRAND share them.

#include <cstdint>

extern "C" {

/// Marsaglia's xorwow: a shift register of five words, and a counter that is added to what it gives.
struct SimtXorwow {
  std::uint32_t x[5], counter;
};

/// The generator of a seed, 2^67 * subsequence + offset steps after its start.
struct SimtXorwow simt_xorwow(std::uint64_t seed, std::uint64_t subsequence, std::uint64_t offset);
/// The number that a normally distributed one is below with that probability.
double simt_normal_quantile(double probability);
/// 2^67 * subsequences + steps steps on.
struct SimtXorwow simt_xorwow_skip(struct SimtXorwow state, std::uint64_t subsequences, std::uint64_t steps);

}  // extern "C"

namespace simt::shim {

inline std::uint32_t next(SimtXorwow& state) noexcept {
  const std::uint32_t first = state.x[0] ^ (state.x[0] >> 2), last = state.x[4];
  state.x[0] = state.x[1], state.x[1] = state.x[2], state.x[2] = state.x[3], state.x[3] = last;
  state.x[4] = last ^ (last << 4) ^ first ^ (first << 1);
  state.counter += 362437u;
  return state.x[4] + state.counter;
}

// From words to numbers in (0, 1]: the middle of each step.
inline float uniform(std::uint32_t word) noexcept { return static_cast<float>(word) * 0x1p-32f + 0x1p-33f; }
inline double uniform_double(std::uint32_t low, std::uint32_t high) noexcept {
  const std::uint64_t bits = low ^ (static_cast<std::uint64_t>(high) << 21);
  return static_cast<double>(bits) * 0x1p-53 + 0x1p-54;
}

}  // namespace simt::shim
