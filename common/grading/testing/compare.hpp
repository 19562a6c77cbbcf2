#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grading/facts/failure.hpp"
#include "grading/facts/poison.hpp"
#include "tensor/float16.hpp"
#include "tensor/tensor.hpp"

namespace course::grading {

/// @brief How far a result may lie from the float64 reference.
/// allowed = factor * max|baseline - expected| + floor * min(1, max|expected|), over the finite elements:
/// twice what a plain float32 implementation loses on the same data, and a tiny floor for data on which that
/// one is exact. To this, 16 bits add what they cost each element: `rounding`, and half a step of the
/// result's type.
struct Bound {
  double factor = 2;
  double floor = 1e-7;
  /// What rounding intermediate results to 16 bits may cost each element, as the reference computes it; of
  /// the result's shape. Without elements: nothing is rounded.
  Tensor<double> rounding{};
  /// The type of a result of 16 bits. compare() sets it for tensors of such a type; a test does, where it
  /// hands over such a result in float32.
  std::optional<Format16> format{};
};

/// @brief The same numbers in float32, exactly. Elements that were never written stay so.
template <class T>
requires is_16_bit<T> Tensor<float> widened(const Tensor<T>& x) {
  Tensor<float> wide = x.template to<float>();
  for (std::int64_t i = 0; i < x.numel(); ++i)
    if (is_poison(x.at_linear(i))) wide.at_linear(i) = poison<float>();
  return wide;
}

/// @brief Numbers of 16 bits that are held in float32, in their own type. Elements that were never written
/// stay so.
template <class T>
requires is_16_bit<T> Tensor<T> narrowed(const Tensor<float>& x) {
  Tensor<T> narrow = x.to<T>();
  for (std::int64_t i = 0; i < x.numel(); ++i)
    if (is_poison(x.at_linear(i))) narrow.at_linear(i) = poison<T>();
  return narrow;
}

/// What reports call an array, and one index of each of its axes: {"O", {"batch", "head", "query",
/// "column"}}. Without axes, a vector has elements and everything else rows and columns.
struct ArrayName {
  ArrayName(const char* array) : name(array) {}       // NOLINT(google-explicit-constructor): a name is enough
  ArrayName(std::string_view array) : name(array) {}  // NOLINT(google-explicit-constructor)
  ArrayName(const std::string& array) : name(array) {}  // NOLINT(google-explicit-constructor)
  ArrayName(std::string_view array, std::vector<std::string> of_axes)
      : name(array), axes(std::move(of_axes)) {}

  std::string name;
  std::vector<std::string> axes{};
};

/// Result of a comparison.
struct Comparison {
  bool passed = false;
  std::string message;                ///< sentences for a student; empty if passed
  WrongValues values{};               ///< what these say, as data; not for a wrong shape
  std::vector<std::int64_t> wrong{};  ///< row-major indices of the wrong elements, increasing
  double allowed = 0;  ///< largest error that passes; of 16 bits, in the element that may be off most
  double largest = 0;  ///< largest finite error seen

  /// What to report of a comparison that did not pass.
  Failure failure() const;
};

/// @brief Row-major indices of the elements that lie further than `allowed` from what is expected, by the
/// rules of compare(). Both have the same shape.
std::vector<std::int64_t> elements_off(const Tensor<float>& got, const Tensor<double>& expected,
                                       double allowed);

/// @brief The largest finite |x|; 0 if there is none. What float32 cannot hold counts as infinite.
double largest_magnitude(const Tensor<double>& x);

/// @brief Compares element by element; passes only where |got - expected| <= allowed.
/// NaN passes only where NaN is expected; an infinity only where the same infinity is expected. An expected
/// value beyond the range of the result's type counts as infinity. -0 equals 0. Elements where the baseline
/// is not finite do not widen the bound. Cost: reads each element twice.
/// @throws std::invalid_argument if expected, baseline and rounding differ in shape (a mistake in the test).
Comparison compare(const Tensor<float>& got, const ArrayName& name, const Tensor<double>& expected,
                   const Tensor<float>& baseline, const Bound& bound = {});

/// @brief The same for a result of 16 bits. The baseline is that of the same computation in float32, from the
/// same inputs of 16 bits.
template <class T>
requires is_16_bit<T> Comparison compare(const Tensor<T>& got, const ArrayName& name,
                                         const Tensor<double>& expected, const Tensor<float>& baseline,
                                         Bound bound = {}) {
  bound.format = format_of<T>;
  return compare(widened(got), name, expected, baseline, bound);
}

/// @brief Compares the bits of two tensors of the same shape: 0 differs from -0, equal NaNs are equal.
template <class T>
Comparison compare_bits(const Tensor<T>& got, const Tensor<T>& expected, const ArrayName& name);

extern template Comparison compare_bits(const Tensor<float>&, const Tensor<float>&, const ArrayName&);
extern template Comparison compare_bits(const Tensor<double>&, const Tensor<double>&, const ArrayName&);
extern template Comparison compare_bits(const Tensor<bfloat16>&, const Tensor<bfloat16>&, const ArrayName&);
extern template Comparison compare_bits(const Tensor<float16>&, const Tensor<float16>&, const ArrayName&);
extern template Comparison compare_bits(const Tensor<std::int32_t>&, const Tensor<std::int32_t>&,
                                        const ArrayName&);
extern template Comparison compare_bits(const Tensor<std::int64_t>&, const Tensor<std::int64_t>&,
                                        const ArrayName&);

}  // namespace course::grading
