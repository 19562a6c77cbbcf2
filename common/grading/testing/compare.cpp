#include "grading/testing/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "grading/facts/poison.hpp"
#include "grading/facts/words.hpp"

#include "tensor/format.hpp"

namespace course::grading {
namespace {

using Format = std::optional<Format16>;  // of a result; nothing: float32

/// The value that the type has for it, as far as infinities go: what rounds past the largest number is
/// infinite.
double within_range(double value, Format format = {}) {
  const double narrow = format ? rounded(value, *format) : static_cast<double>(static_cast<float>(value));
  return std::isinf(narrow) ? narrow : value;
}

/// Distance of a result from what is expected: 0 where both are NaN or the same infinity, NaN where only one
/// is.
double distance(float got, double expected, Format format = {}) {
  const auto value = static_cast<double>(got);
  const double want = within_range(expected, format);
  if (std::isnan(want))
    return std::isnan(value) && !is_poison(got) ? 0 : std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(want)) return value == want ? 0 : std::numeric_limits<double>::quiet_NaN();
  return std::abs(value - want);
}

/// Largest |baseline - expected| and |expected| over the elements where both are finite.
struct Scale {
  double error = 0, magnitude = 0;
};

Scale measure(const Tensor<double>& expected, const Tensor<float>& baseline, Format format) {
  Scale scale;
  for (std::int64_t i = 0; i < expected.numel(); ++i) {
    const double want = within_range(expected.at_linear(i), format);
    const auto base = static_cast<double>(baseline.at_linear(i));
    if (!std::isfinite(want) || !std::isfinite(base)) continue;
    scale.error = std::max(scale.error, std::abs(base - want));
    scale.magnitude = std::max(scale.magnitude, std::abs(want));
  }
  return scale;
}

/// How far each element may lie from what is expected.
class Allowance {
 public:
  Allowance(const Bound& bound, const Scale& scale, const Tensor<double>& expected)
      : common_(bound.factor * scale.error + bound.floor * std::min(1.0, scale.magnitude)),
        rounding_(bound.rounding),
        format_(bound.format),
        expected_(expected) {}

  double of(std::int64_t i) const {
    const double before = common_ + (rounding_.numel() > 0 ? rounding_.at_linear(i) : 0);
    // What the result was before it was rounded may lie in the next power of 2, where steps are longer.
    return format_ ? before + half_step(std::abs(expected_.at_linear(i)) + before, *format_) : before;
  }
  double largest() const {
    if (rounding_.numel() == 0 && !format_) return common_;
    double most = common_;
    for (std::int64_t i = 0; i < expected_.numel(); ++i) most = std::max(most, of(i));
    return most;
  }

 private:
  double common_;
  const Tensor<double>& rounding_;
  Format format_;
  const Tensor<double>& expected_;
};

/// A number of a result, in full: with as many digits as tell it from all others of its type.
template <class T>
std::string number(T value) {
  if (value != value) return "NaN";
  if constexpr (std::is_floating_point_v<T>)
    if (std::isinf(value)) return value < T{} ? "-inf" : "inf";
  return fmt::format("{}", value);
}
std::string number(double value, Format16 format) { return number(fewest_digits(value, format)); }
template <class T>
requires is_16_bit<T> std::string number(T value) { return number(static_cast<double>(value), format_of<T>); }

/// A float64 reference to the digits that the result has: one more than tell its values apart, for 16 bits.
std::string reference_number(double value, Format format) {
  if (!std::isfinite(value)) return number(value);
  return fmt::format("{:.{}g}", value, !format ? 9 : *format == Format16::float16 ? 6 : 5);
}

/// What the wrong values have in common, if they are two or more.
template <class T>
WrongValues::Common common_value(const Tensor<T>& got, const std::vector<std::int64_t>& wrong) {
  const auto all = [&](auto predicate) {
    return std::all_of(wrong.begin(), wrong.end(),
                       [&](std::int64_t i) { return predicate(got.at_linear(i)); });
  };
  if (all([](T value) { return value == T{}; })) return WrongValues::Common::zero;
  if (all([](T value) { return value != value; })) return WrongValues::Common::nan;
  return WrongValues::Common::nothing;
}

/// What is to be told of the wrong elements, but for the numbers.
template <class T>
WrongValues values_of(const std::vector<std::int64_t>& wrong, const Tensor<T>& got, const ArrayName& name) {
  const std::int64_t first = wrong.front();
  WrongValues values;
  values.array = name.name;
  values.index = got.unravel(first);
  values.never_written = is_poison(got.at_linear(first));
  values.count = static_cast<std::int64_t>(wrong.size());
  values.size = got.numel();
  values.unwritten =
      std::count_if(wrong.begin(), wrong.end(), [&](std::int64_t i) { return is_poison(got.at_linear(i)); });
  values.overflowed = std::any_of(wrong.begin(), wrong.end(), [&](std::int64_t i) {
    return !std::isfinite(static_cast<double>(got.at_linear(i))) && !is_poison(got.at_linear(i));
  });
  if (values.unwritten == 0) values.common = common_value(got, wrong);
  values.where = locate(got.shape(), name.axes, wrong);
  return values;
}

bool same_shape(Comparison& result, const Shape& got, const ArrayName& name, const Shape& expected) {
  if (got == expected) return true;
  result.message =
      fmt::format("{} has shape {}, expected {}.", name.name, format_shape(got), format_shape(expected));
  return false;
}

}  // namespace

Failure Comparison::failure() const {
  Failure failure;
  failure.kind = wrong.empty() ? Failure::Kind::check : Failure::Kind::values;
  if (wrong.empty()) failure.sentence = message;
  failure.values = values;
  return failure;
}

std::vector<std::int64_t> elements_off(const Tensor<float>& got, const Tensor<double>& expected,
                                       double allowed) {
  std::vector<std::int64_t> wrong;
  for (std::int64_t i = 0; i < got.numel(); ++i)
    if (!(distance(got.at_linear(i), expected.at_linear(i)) <= allowed))
      wrong.push_back(i);  // NaN is off, too
  return wrong;
}

double largest_magnitude(const Tensor<double>& x) {
  double largest = 0;
  for (std::int64_t i = 0; i < x.numel(); ++i)
    if (const double value = within_range(x.at_linear(i)); std::isfinite(value))
      largest = std::max(largest, std::abs(value));
  return largest;
}

Comparison compare(const Tensor<float>& got, const ArrayName& name, const Tensor<double>& expected,
                   const Tensor<float>& baseline, const Bound& bound) {
  const bool all_fit = expected.shape() == baseline.shape() &&
                       (bound.rounding.numel() == 0 || expected.shape() == bound.rounding.shape());
  if (!all_fit)
    throw std::invalid_argument(
        fmt::format("the test compares {} with a reference of shape {}, a baseline of {} and rounding of {}",
                    name.name, format_shape(expected.shape()), format_shape(baseline.shape()),
                    format_shape(bound.rounding.shape())));
  Comparison result;
  if (!same_shape(result, got.shape(), name, expected.shape())) return result;

  const Scale scale = measure(expected, baseline, bound.format);
  const Allowance allowance(bound, scale, expected);
  result.allowed = allowance.largest();
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    const double error = distance(got.at_linear(i), expected.at_linear(i), bound.format);
    if (!(error <= allowance.of(i))) result.wrong.push_back(i);  // NaN is off, too
    if (std::isfinite(error)) result.largest = std::max(result.largest, error);
  }
  result.passed = result.wrong.empty();
  if (result.passed) return result;

  const std::int64_t first = result.wrong.front();
  const float value = got.at_linear(first);
  const double error = distance(value, expected.at_linear(first), bound.format);
  // How far off matters only where the value is nearly right; with 16 bits, what is right is off itself.
  const double near =
      std::max(1e-2 * std::max(scale.magnitude, 1e-30), bound.format ? 8 * allowance.of(first) : 0);
  result.values = values_of(result.wrong, got, name);
  result.values.got = bound.format ? number(static_cast<double>(value), *bound.format) : number(value);
  result.values.expected = reference_number(expected.at_linear(first), bound.format);
  result.values.allowed = allowance.of(first);
  if (error <= near) result.values.error = error;
  result.message = to_words(result.values);
  return result;
}

template <class T>
Comparison compare_bits(const Tensor<T>& got, const Tensor<T>& expected, const ArrayName& name) {
  Comparison result;
  if (!same_shape(result, got.shape(), name, expected.shape())) return result;
  for (std::int64_t i = 0; i < got.numel(); ++i)
    if (std::memcmp(&got.at_linear(i), &expected.at_linear(i), sizeof(T)) != 0) result.wrong.push_back(i);
  result.passed = result.wrong.empty();
  if (result.passed) return result;
  result.values = values_of(result.wrong, got, name);
  result.values.got = number(got.at_linear(result.wrong.front()));
  result.values.expected = number(expected.at_linear(result.wrong.front()));
  result.values.bit_for_bit = true;
  result.message = to_words(result.values);
  return result;
}

template Comparison compare_bits(const Tensor<float>&, const Tensor<float>&, const ArrayName&);
template Comparison compare_bits(const Tensor<double>&, const Tensor<double>&, const ArrayName&);
template Comparison compare_bits(const Tensor<bfloat16>&, const Tensor<bfloat16>&, const ArrayName&);
template Comparison compare_bits(const Tensor<float16>&, const Tensor<float16>&, const ArrayName&);
template Comparison compare_bits(const Tensor<std::int32_t>&, const Tensor<std::int32_t>&, const ArrayName&);
template Comparison compare_bits(const Tensor<std::int64_t>&, const Tensor<std::int64_t>&, const ArrayName&);

}  // namespace course::grading
