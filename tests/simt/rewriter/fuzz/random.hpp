#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace simt::fuzz {

/// SplitMix64: the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// 0 ... count - 1; count must not be 0.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(bits() % count); }
  bool one_in(std::size_t count) { return below(count) == 0; }

  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace simt::fuzz
