#include "drawn/drawn.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace course::drawn {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float sign(Random& random) { return random.integer(0, 1) == 1 ? 1.0f : -1.0f; }

enum class Row { ordinary, slope, shifted, with_nan, with_infinities, nearly_empty, empty };
constexpr std::int64_t kKinds = 7;

void make(Tensor<float>& x, std::int64_t row, Row kind, Random& random) {
  const std::int64_t cols = x.shape()[1];
  const auto any = [&] { return random.integer(0, cols - 1); };
  const auto add = [&](auto value_at) {
    for (std::int64_t col = 0; col < cols; ++col) x(row, col) += value_at(col);
  };
  const float to = sign(random);
  switch (kind) {
    case Row::ordinary:
      return;
    case Row::slope:
      return add(
          [=](std::int64_t col) { return to * 200.0f * static_cast<float>(col) / static_cast<float>(cols); });
    case Row::shifted:
      return add([=](std::int64_t) { return to * 10'000.0f; });
    case Row::with_nan:
      x(row, any()) = kNan;
      return;
    case Row::with_infinities:
      x(row, any()) = -kInf, x(row, any()) = to * kInf;
      return;
    case Row::nearly_empty: {
      const std::int64_t left = any(), last = any();
      const float first_value = x(row, left), last_value = x(row, last);
      add([](std::int64_t) { return -kInf; });
      x(row, left) = first_value, x(row, last) = last_value;
      return;
    }
    case Row::empty:
      return add([](std::int64_t) { return -kInf; });
  }
}

}  // namespace

std::int64_t length(Random& random, std::int64_t most) {
  const double x = std::exp(random.uniform() * std::log(static_cast<double>(most) + 1));
  return std::clamp(static_cast<std::int64_t>(x), std::int64_t{1}, most);
}

float factor(Random& random, int most_log2) {
  return sign(random) * static_cast<float>(std::exp2((2 * random.uniform() - 1) * most_log2));
}

Tensor<float> times(Tensor<float> x, float number) {
  for (float& value : x.storage()) value *= number;
  return x;
}

std::vector<Shape> misfits(const Shape& fits, const std::vector<std::size_t>& axes, Random& random,
                           std::int64_t step) {
  std::vector<Shape> all, exchanged;
  for (const std::size_t axis : axes) {
    const std::int64_t unit = axis + 1 == fits.size() ? step : 1, units = fits[axis] / unit;
    const auto change = [&] { return length(random, 2 * units + 1); };
    Shape longer = fits, shorter = fits;
    longer[axis] += unit * change();
    all.push_back(longer);
    shorter[axis] -= unit * std::min(change(), units);
    if (units > 0) all.push_back(shorter);
    for (std::size_t other = 0; other < fits.size(); ++other) {
      Shape shape = fits;
      std::swap(shape[axis], shape[other]);
      if (shape != fits) exchanged.push_back(shape);
    }
  }
  if (!exchanged.empty())
    all.push_back(exchanged[static_cast<std::size_t>(random.integer(0, std::ssize(exchanged) - 1))]);
  return all;
}
std::vector<Shape> misfits(const Shape& fits, Random& random, std::int64_t step) {
  std::vector<std::size_t> axes(fits.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  return misfits(fits, axes, random, step);
}

Strides strides(std::int64_t rows, std::int64_t cols, Random& random) {
  const std::int64_t gap = random.integer(0, 1) * random.integer(1, 9), step = random.integer(2, 9);
  const std::array<Strides, 4> all{
      Strides{cols + gap, 1}, {1, rows + gap}, {step * cols + gap, step}, {step, step * rows + gap}};
  return all[static_cast<std::size_t>(random.integer(0, std::ssize(all) - 1))];
}

std::int64_t row_stride(std::int64_t cols, Random& random, bool far) {
  if (far) return random.integer(2, 3) * cols + random.integer(0, 9);
  return cols + random.integer(0, 1) * random.integer(1, 9);
}

std::int64_t few_columns(Random& random) {
  return random.integer(0, 1) == 1 ? 4 * random.integer(33, 40) : random.integer(33, 160);
}

std::int64_t few_between(Random& random) {
  return random.integer(0, 1) == 1 ? 4 * random.integer(1, 2) : random.integer(1, 9);
}

std::vector<std::vector<std::int64_t>> gaps_around_fours(std::size_t arrays, Random& random) {
  std::vector<std::vector<std::int64_t>> all(arrays + 1, std::vector<std::int64_t>(arrays));
  for (std::size_t odd = 0; odd <= arrays; ++odd)
    for (std::size_t array = 0; array < arrays; ++array)
      all[odd][array] = 4 * random.integer(0, 3) + (array == odd ? 1 + 2 * random.integer(0, 1) : 0);
  return all;
}

std::int64_t rows_of_65536_blocks(std::int64_t rows, std::int64_t blocks, Random& random) {
  const std::int64_t rows_of_a_block = (rows - 1) / blocks + 1;
  return 65'535 * rows_of_a_block + random.integer(1, 500);
}

Tensor<float> rows(std::int64_t rows, std::int64_t cols, Random& random) {
  Tensor<float> x = uniform({rows, cols}, -4.0f, 4.0f, random.bits());
  const std::int64_t first = random.integer(0, kKinds - 1);
  for (std::int64_t row = 0; row < rows; ++row)
    make(x, row, static_cast<Row>((first + row) % kKinds), random);
  return x;
}

Tensor<float> nans_of_all_kinds(const Shape& shape) {
  Tensor<float> x(shape);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const auto payload = static_cast<std::uint32_t>(i + 1);
    const std::uint32_t sign = i % 2 == 0 ? 0u : 0x8000'0000u, quiet = i / 2 % 2 == 0 ? 0u : 0x0040'0000u;
    x.at_linear(i) = std::bit_cast<float>(sign | 0x7f80'0000u | quiet | payload);
  }
  return x;
}

}  // namespace course::drawn
