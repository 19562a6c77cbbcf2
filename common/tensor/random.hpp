#pragma once

#include <cstdint>
#include <utility>

#include "tensor/float16.hpp"
#include "tensor/tensor.hpp"

namespace course {

/// @brief A seeded generator of random numbers: the n-th value depends only on the seed and n.
///
/// bits(), uniform() and integer() give the same bits with every compiler and library (the distributions of
/// the standard library do not); normal() may differ in its last bits where libm does. Not for cryptography.
/// Source: SplitMix64 (Steele, Lea & Flood 2014), with the seed scrambled first so that neighbouring seeds
/// are as unrelated as any two.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  /// 64 random bits.
  std::uint64_t bits();

  /// A multiple of 2^-53 in [0, 1), all equally likely.
  double uniform();

  /// @brief From the normal distribution with mean 0 and standard deviation 1; always finite, |x| < 8.6.
  /// Uses two values of the sequence (Box & Muller 1958).
  double normal();

  /// @brief An integer in [lo, hi], both included, all equally likely.
  /// @throws std::invalid_argument if lo > hi.
  std::int64_t integer(std::int64_t lo, std::int64_t hi);

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

/// @brief A contiguous tensor of values spread evenly over [lo, hi], in 2^24 steps; same bits on every
/// machine.
/// @throws std::invalid_argument unless lo <= hi and lo, hi and hi - lo are finite.
Tensor<float> uniform(Shape shape, float lo, float hi, std::uint64_t seed);

/// @brief A contiguous tensor of normally distributed values with mean 0 and standard deviation `scale`.
/// May differ between machines in the last bit of an element.
/// @throws std::invalid_argument unless scale is finite and not negative.
Tensor<float> normal(Shape shape, std::uint64_t seed, float scale = 1.0f);

/// @brief The same tensors rounded to 16 bits: uniform<bfloat16>(...), normal<float16>(...). Rounding passes
/// lo or hi where the type has no such number.
template <class T>
requires is_16_bit<T> Tensor<T> uniform(Shape shape, float lo, float hi, std::uint64_t seed) {
  return uniform(std::move(shape), lo, hi, seed).to<T>();
}
template <class T>
requires is_16_bit<T> Tensor<T> normal(Shape shape, std::uint64_t seed, float scale = 1.0f) {
  return normal(std::move(shape), seed, scale).to<T>();
}

}  // namespace course
