// Marsaglia's xorwow (2003, "Xorshift RNGs"): its start from a seed, and leaps. The shift register is linear
// over bits: n steps are the n-th power of a matrix of 160 x 160 bits.

#include <algorithm>
#include <array>
#include <cstddef>

#include "simt/shim/simt_random_abi.h"

namespace {

constexpr std::size_t kWords = 5, kBits = 32 * kWords, kSubsequenceLog2 = 67, kLeaps = kSubsequenceLog2 + 64;
constexpr std::uint32_t kCounterStep = 362437u;

using Register = std::array<std::uint32_t, kWords>;
using Leap = std::array<Register, kBits>;  ///< where each bit of a register goes

Register moved_by(const Leap& leap, const Register& from) {
  Register to{};
  for (std::size_t bit = 0; bit < kBits; ++bit) {
    const std::uint32_t all = 0u - (from[bit / 32] >> bit % 32 & 1u);
    for (std::size_t word = 0; word < kWords; ++word) to[word] ^= leap[bit][word] & all;
  }
  return to;
}

/// Leaps of 1, 2, 4, ... steps.
const std::array<Leap, kLeaps>& leaps() {
  // No heap: a kernel may be the first that needs them, whose other threads take turns while it fills what is
  // its own.
  static std::array<Leap, kLeaps> all;
  static const bool made [[maybe_unused]] = [] {
    for (std::size_t bit = 0; bit < kBits; ++bit) {
      SimtXorwow state{};
      state.x[bit / 32] = 1u << bit % 32;
      simt::shim::next(state);
      for (std::size_t word = 0; word < kWords; ++word) all[0][bit][word] = state.x[word];
    }
    for (std::size_t i = 1; i < kLeaps; ++i)
      for (std::size_t bit = 0; bit < kBits; ++bit) all[i][bit] = moved_by(all[i - 1], all[i - 1][bit]);
    return true;
  }();
  return all;
}

void leap(SimtXorwow& state, std::uint64_t count, std::size_t log2_steps) {
  if (count == 0) return;
  Register words;
  std::copy(std::begin(state.x), std::end(state.x), words.begin());
  for (std::size_t bit = 0; count >> bit != 0; ++bit) {
    if ((count >> bit & 1u) != 0) words = moved_by(leaps()[log2_steps + bit], words);
    if (bit == 63) break;
  }
  std::copy(words.begin(), words.end(), std::begin(state.x));
  if (log2_steps < 32) state.counter += kCounterStep * static_cast<std::uint32_t>(count << log2_steps);
}

/// Spreads the bits of a number over a word of 64 bits (Steele et al. 2014, SplitMix64).
std::uint64_t spread(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

extern "C" {

SimtXorwow simt_xorwow_skip(SimtXorwow state, std::uint64_t subsequences, std::uint64_t steps) {
  leap(state, subsequences, kSubsequenceLog2);
  leap(state, steps, 0);
  return state;
}

// Marsaglia's own numbers, changed by the seed.
SimtXorwow simt_xorwow(std::uint64_t seed, std::uint64_t subsequence, std::uint64_t offset) {
  SimtXorwow state{{123456789u, 362436069u, 521288629u, 88675123u, 5783321u}, 6615241u};
  for (std::size_t word = 0; word < kWords + 1; ++word) {
    seed += 0x9e3779b97f4a7c15u;
    (word < kWords ? state.x[word] : state.counter) += static_cast<std::uint32_t>(spread(seed) >> 32);
  }
  if ((state.x[0] | state.x[1] | state.x[2] | state.x[3] | state.x[4]) == 0)
    state.x[0] = 1;  // it would stay 0
  return simt_xorwow_skip(state, subsequence, offset);
}

}  // extern "C"
