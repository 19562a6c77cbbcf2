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

/// The value that float32 has for it, as far as infinities go: what rounds past the largest float is
/// infinite.
double within_float_range(double value) {
  const auto rounded = static_cast<float>(value);
  return std::isinf(rounded) ? static_cast<double>(rounded) : value;
}

/// Distance of a result from what is expected: 0 where both are NaN or the same infinity, NaN where only one
/// is.
double distance(float got, double expected) {
  const auto value = static_cast<double>(got);
  const double want = within_float_range(expected);
  if (std::isnan(want))
    return std::isnan(value) && !is_poison(got) ? 0 : std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(want)) return value == want ? 0 : std::numeric_limits<double>::quiet_NaN();
  return std::abs(value - want);
}

/// Largest |baseline - expected| and |expected| over the elements where both are finite.
struct Scale {
  double error = 0, magnitude = 0;
};

Scale measure(const Tensor<double>& expected, const Tensor<float>& baseline) {
  Scale scale;
  for (std::int64_t i = 0; i < expected.numel(); ++i) {
    const double want = within_float_range(expected.at_linear(i));
    const auto base = static_cast<double>(baseline.at_linear(i));
    if (!std::isfinite(want) || !std::isfinite(base)) continue;
    scale.error = std::max(scale.error, std::abs(base - want));
    scale.magnitude = std::max(scale.magnitude, std::abs(want));
  }
  return scale;
}

/// A float or an integer in full; a float64 reference to the digits that a float has.
template <class T>
std::string number(T value, bool in_full = true) {
  if (value != value) return "NaN";
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isinf(value)) return value < T{} ? "-inf" : "inf";
    if (!in_full) return fmt::format("{:.9g}", value);
  }
  return fmt::format("{}", value);
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

/// What is to be told of the wrong elements.
template <class T, class E>
WrongValues values_of(const std::vector<std::int64_t>& wrong, const Tensor<T>& got, const ArrayName& name,
                      const Tensor<E>& expected) {
  const std::int64_t first = wrong.front();
  WrongValues values;
  values.array = name.name;
  values.index = got.unravel(first);
  values.got = number(got.at_linear(first));
  values.expected = number(expected.at_linear(first), std::is_same_v<T, E>);
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
    if (const double value = within_float_range(x.at_linear(i)); std::isfinite(value))
      largest = std::max(largest, std::abs(value));
  return largest;
}

Comparison compare(const Tensor<float>& got, const ArrayName& name, const Tensor<double>& expected,
                   const Tensor<float>& baseline, Bound bound) {
  if (expected.shape() != baseline.shape())
    throw std::invalid_argument(
        fmt::format("the test compares {} with a reference of shape {} and a baseline of {}", name.name,
                    format_shape(expected.shape()), format_shape(baseline.shape())));
  Comparison result;
  if (!same_shape(result, got.shape(), name, expected.shape())) return result;

  const Scale scale = measure(expected, baseline);
  result.allowed = bound.factor * scale.error + bound.floor * std::min(1.0, scale.magnitude);
  result.wrong = elements_off(got, expected, result.allowed);
  result.passed = result.wrong.empty();
  for (std::int64_t i = 0; i < got.numel(); ++i)
    if (const double error = distance(got.at_linear(i), expected.at_linear(i)); std::isfinite(error))
      result.largest = std::max(result.largest, error);
  if (result.passed) return result;

  const std::int64_t first = result.wrong.front();
  const double error = distance(got.at_linear(first), expected.at_linear(first));
  // How far off matters only where the value is nearly right.
  const bool near = std::isfinite(error) && error <= 1e-2 * std::max(scale.magnitude, 1e-30);
  result.values = values_of(result.wrong, got, name, expected);
  result.values.allowed = result.allowed;
  if (near) result.values.error = error;
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
  result.values = values_of(result.wrong, got, name, expected);
  result.values.bit_for_bit = true;
  result.message = to_words(result.values);
  return result;
}

template Comparison compare_bits(const Tensor<float>&, const Tensor<float>&, const ArrayName&);
template Comparison compare_bits(const Tensor<double>&, const Tensor<double>&, const ArrayName&);
template Comparison compare_bits(const Tensor<std::int32_t>&, const Tensor<std::int32_t>&, const ArrayName&);
template Comparison compare_bits(const Tensor<std::int64_t>&, const Tensor<std::int64_t>&, const ArrayName&);

}  // namespace course::grading
