#include "tensor/random.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>

namespace course {
namespace {

constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd

/// SplitMix64's finalizer: a bijection in which every input bit changes about half of the output bits.
std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed) : key_(scrambled(seed + kGoldenGamma)) {}

std::uint64_t Random::bits() { return scrambled(key_ + kGoldenGamma * ++counter_); }

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));  // 1 - uniform() is in (0, 1]
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::int64_t Random::integer(std::int64_t lo, std::int64_t hi) {
  if (lo > hi) {
    throw std::invalid_argument("Random::integer needs lo <= hi, but got lo = " + std::to_string(lo) +
                                " and hi = " + std::to_string(hi) + ".");
  }
  const std::uint64_t count = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo) + 1;
  if (count == 0) return static_cast<std::int64_t>(bits());  // all 2^64 of them

  // Drawing again below 2^64 mod count leaves a multiple of count, so that no remainder is favoured.
  const std::uint64_t threshold = (0 - count) % count;
  std::uint64_t draw = bits();
  while (draw < threshold) draw = bits();
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(lo) + draw % count);
}

Tensor<float> uniform(Shape shape, float lo, float hi, std::uint64_t seed) {
  const float span = hi - lo;
  if (!(lo <= hi) || !std::isfinite(span)) {
    throw std::invalid_argument("uniform() needs finite lo <= hi with a finite hi - lo, but got lo = " +
                                std::to_string(lo) + " and hi = " + std::to_string(hi) + ".");
  }
  Random random(seed);
  Tensor<float> result(std::move(shape));
  for (float& value : result.storage()) {
    // Both factors have 24 bits, so their product is exact in double, fused with the addition or not. It
    // stays below the exact hi - lo even if span was rounded up, since step <= 1 - 2^-24: no value passes hi.
    const double step = static_cast<double>(random.bits() >> 40) * 0x1p-24;
    value = static_cast<float>(static_cast<double>(lo) + static_cast<double>(span) * step);
  }
  return result;
}

Tensor<float> normal(Shape shape, std::uint64_t seed, float scale) {
  if (!(scale >= 0.0f) || !std::isfinite(scale)) {
    throw std::invalid_argument("normal() needs a finite scale >= 0, but got " + std::to_string(scale) + ".");
  }
  Random random(seed);
  Tensor<float> result(std::move(shape));
  for (float& value : result.storage())
    value = static_cast<float>(static_cast<double>(scale) * random.normal());
  return result;
}

}  // namespace course
