#include "05_online_softmax/rounding.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace course::lesson_05 {

namespace {

struct Stats32 {
  float max = -kInf, sum = 0.0f;
};

/// A way to compute in float32: with the exponential of base 2, with the recurrence or with the maximum known
/// first.
struct Way {
  bool base_2, recurrence, near_first, reciprocal;

  float exp(float x) const { return base_2 ? std::exp2(x * 1.44269504f) : std::exp(x); }
};
constexpr std::array kWays{Way{false, true, false, true}, Way{false, true, true, false},
                           Way{false, false, false, true}, Way{true, true, false, true},
                           Way{true, false, true, false}};

Stats32 merge(const Way& way, Stats32 a, Stats32 b) {
  if (a.sum == 0.0f) return b;
  if (b.sum == 0.0f) return a;
  const float max = std::max(a.max, b.max);
  return {max, a.sum * way.exp(a.max - max) + b.sum * way.exp(b.max - max)};
}

/// The statistics of a row in 32 parts, then merged in pairs, near or far apart. Finite or -inf columns only.
Stats32 stats_in_32_parts(const Problem& p, std::int64_t row, const Way& way) {
  std::array<Stats32, kWarp> parts;
  Stats32 whole;
  if (!way.recurrence)
    for (std::int64_t col = 0; col < p.cols(); ++col) whole.max = std::max(whole.max, p.x(row, col));
  for (std::int64_t col = 0; col < p.cols(); ++col) {
    Stats32& part = parts[static_cast<std::size_t>(col % kWarp)];
    const float x = p.x(row, col);
    if (x == -kInf) continue;
    const float max = way.recurrence ? std::max(part.max, x) : whole.max;
    const float kept = part.sum == 0.0f ? 0.0f : part.sum * way.exp(part.max - max);
    part = {max, kept + way.exp(x - max)};
  }
  for (std::size_t step = 1; step < kWarp; step *= 2) {
    const std::size_t apart = way.near_first ? step : kWarp / (2 * step);
    for (std::size_t i = 0; i + apart < kWarp; ++i)
      if (way.near_first ? i % (2 * apart) == 0 : i < apart)
        parts[i] = merge(way, parts[i], parts[i + apart]);
  }
  return parts[0];
}

bool has_nan_or_inf(const Problem& p, std::int64_t row) {
  for (std::int64_t col = 0; col < p.cols(); ++col)
    if (!(p.x(row, col) < kInf)) return true;
  return false;
}

}  // namespace

Tensor<float> sums_in_float32(const Problem& p, const Tensor<double>& expected) {
  Tensor<float> sums({p.rows()}, kNan);
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    if (has_nan_or_inf(p, row)) continue;
    double largest = -1;
    for (const Way& way : kWays) {
      const float sum = stats_in_32_parts(p, row, way).sum;
      const double error = std::abs(static_cast<double>(sum) - expected(row));
      if (error <= largest) continue;
      largest = error;
      sums(row) = sum;
    }
  }
  return sums;
}

Tensor<float> softmax_in_float32(const Problem& p, const Tensor<double>& expected) {
  Tensor<float> y({p.rows(), p.cols()}, kNan);
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    if (has_nan_or_inf(p, row)) continue;
    double largest = -1;
    for (const Way& way : kWays) {
      const Stats32 stats = stats_in_32_parts(p, row, way);
      std::vector<float> results;
      double error = 0;
      for (std::int64_t col = 0; col < p.cols(); ++col) {
        const float e = p.x(row, col) == -kInf ? 0.0f : way.exp(p.x(row, col) - stats.max);
        const float result = e == 0.0f ? 0.0f : way.reciprocal ? e * (1.0f / stats.sum) : e / stats.sum;
        results.push_back(result);
        error = std::max(error, std::abs(static_cast<double>(result) - expected(row, col)));
      }
      if (error <= largest) continue;
      largest = error;
      for (std::int64_t col = 0; col < p.cols(); ++col) y(row, col) = results[static_cast<std::size_t>(col)];
    }
  }
  return y;
}

}  // namespace course::lesson_05
