#include "tensor/adversarial.hpp"

#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "tensor/random.hpp"

namespace course {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct NamedPattern {
  Pattern pattern;
  std::string_view name;
};

constexpr std::array kPatterns = {
    NamedPattern{Pattern::large, "large"},
    NamedPattern{Pattern::huge, "huge"},
    NamedPattern{Pattern::cancelling, "cancelling"},
    NamedPattern{Pattern::increasing, "increasing"},
    NamedPattern{Pattern::decreasing, "decreasing"},
    NamedPattern{Pattern::alternating_signs, "alternating signs"},
    NamedPattern{Pattern::signed_zeros, "signed zeros"},
    NamedPattern{Pattern::subnormal, "subnormal"},
    NamedPattern{Pattern::minus_inf_rows, "minus inf rows"},
    NamedPattern{Pattern::minus_inf_holes, "minus inf holes"},
    NamedPattern{Pattern::infinities, "infinities"},
    NamedPattern{Pattern::one_nan, "one NaN"},
};

/// The numbers of the patterns that depend on the range of a type.
struct Extremes {
  float huge, cancelling;
  float subnormal_step;         // the smallest number
  std::int64_t subnormal_most;  // so many times that is subnormal, still
};

template <class T>
constexpr Extremes kExtremes{};
template <>
constexpr Extremes kExtremes<float> = {0x1p126f, 0x1p24f, std::numeric_limits<float>::denorm_min(), 1000};
template <>
constexpr Extremes kExtremes<bfloat16> = {0x1p126f, 0x1p24f, 0x1p-133f, 127};
template <>
constexpr Extremes kExtremes<float16> = {0x1p14f, 0x1p12f, 0x1p-24f, 1000};

/// A multiple of 2^-24 in [0, 1): every use below is exact in float or rounds once, so the bits are the same
/// on every machine.
float fraction(Random& random) { return static_cast<float>(random.bits() >> 40) * 0x1p-24f; }

float random_sign(Random& random) { return random.integer(0, 1) == 0 ? 1.0f : -1.0f; }

/// A value in [-1, 1) for the elements that a pattern leaves ordinary.
float ordinary(Random& random) { return 2.0f * fraction(random) - 1.0f; }

/// The element at (row, col) of a matrix with rows of `cols` elements.
float element(Pattern pattern, std::int64_t row, std::int64_t col, std::int64_t cols,
              const Extremes& extremes, Random& random) {
  switch (pattern) {
    case Pattern::large:
      return random_sign(random) * 10000.0f * (0.5f + 0.5f * fraction(random));
    case Pattern::huge:
      return random_sign(random) * extremes.huge * (0.5f + 0.5f * fraction(random));
    case Pattern::cancelling:
      return col % 2 == 1 ? 1.0f : col % 4 == 0 ? extremes.cancelling : -extremes.cancelling;
    case Pattern::increasing:
      return static_cast<float>(col) + fraction(random);
    case Pattern::decreasing:
      return static_cast<float>(cols - col) - fraction(random);
    case Pattern::alternating_signs:
      return ((row + col) % 2 == 0 ? 1.0f : -1.0f) * (1.0f + fraction(random));
    case Pattern::signed_zeros:
      return random_sign(random) * 0.0f;
    case Pattern::subnormal:
      return random_sign(random) * static_cast<float>(random.integer(1, extremes.subnormal_most)) *
             extremes.subnormal_step;
    case Pattern::minus_inf_rows:
      return row % 2 == 0 ? -kInfinity : ordinary(random);
    case Pattern::minus_inf_holes:
      return random.integer(0, 3) == 0 ? -kInfinity : ordinary(random);
    case Pattern::infinities: {
      const std::int64_t draw = random.integer(0, 7);
      return draw == 0 ? kInfinity : draw == 1 ? -kInfinity : ordinary(random);
    }
    case Pattern::one_nan:
      return ordinary(random);  // the NaN is placed once the rest is there
  }
  throw std::invalid_argument("There is no pattern number " + std::to_string(static_cast<int>(pattern)) +
                              ".");
}

template <class T>
Tensor<T> filled(Pattern pattern, Shape shape, std::uint64_t seed) {
  Tensor<T> result(std::move(shape));
  const std::int64_t cols = result.rank() == 0 ? 1 : result.shape().back();
  Random random(seed);
  for (std::int64_t i = 0; i < result.numel(); ++i) {
    result.at_linear(i) = static_cast<T>(element(pattern, i / cols, i % cols, cols, kExtremes<T>, random));
  }
  if (pattern == Pattern::one_nan && result.numel() > 0) {
    result.at_linear(random.integer(0, result.numel() - 1)) = static_cast<T>(kNaN);
  }
  return result;
}

}  // namespace

std::span<const Pattern> all_patterns() {
  static constexpr auto kAll = [] {
    std::array<Pattern, kPatterns.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kPatterns[i].pattern;
    return all;
  }();
  return kAll;
}

std::string_view pattern_name(Pattern pattern) {
  for (const NamedPattern& named : kPatterns) {
    if (named.pattern == pattern) return named.name;
  }
  throw std::invalid_argument("There is no pattern number " + std::to_string(static_cast<int>(pattern)) +
                              ".");
}

Tensor<float> adversarial(Pattern pattern, Shape shape, std::uint64_t seed) {
  return filled<float>(pattern, std::move(shape), seed);
}

template <class T>
requires is_16_bit<T> Tensor<T> adversarial(Pattern pattern, Shape shape, std::uint64_t seed) {
  return filled<T>(pattern, std::move(shape), seed);
}

template Tensor<bfloat16> adversarial(Pattern, Shape, std::uint64_t);
template Tensor<float16> adversarial(Pattern, Shape, std::uint64_t);

}  // namespace course
