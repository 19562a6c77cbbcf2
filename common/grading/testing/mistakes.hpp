#pragma once
/// @file
/// Diagnosis by class of bug: the well-known mistakes of a lesson, and which one explains a wrong result.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grading/testing/compare.hpp"
#include "tensor/tensor.hpp"

namespace course::grading {

/// A wrong result, and what would have been right. All tensors have the same shape.
struct WrongResult {
  const Tensor<float>& got;
  const Tensor<double>& expected;
  const Comparison& comparison;
};

/// A well-known mistake. Its name is what mutants and results files call it.
struct Mistake {
  std::string name;  ///< "tail_missing"
  /// The sentence for the student if it fits. Nothing if the result contradicts it; an empty sentence if the
  /// result speaks neither for it nor against it, since rounding hides what it changes.
  std::function<std::optional<std::string>(const WrongResult&)> explain;
  /// Where it explains a result: what its other forms say that explain it, too.
  std::function<std::vector<std::string>(const WrongResult&)> other_forms{};
  /// Whether it would have changed a result that is right, by more than rounding. Nothing: nobody knows.
  std::function<bool(const WrongResult& right)> changes{};
  /// Every result of the case would be wrong: where one is right, the others contradict it.
  bool of_all_results = false;
  /// It would leave these results right: whatever is wrong with them, that is not why.
  bool ruled_out = false;
};

using Mistakes = std::vector<Mistake>;

/// An index of the result: one number for each axis.
using Index = std::vector<std::int64_t>;

/// @brief Fits if every element is what the mistake gives, in float64. The bound is the test's own; it grows
/// with the magnitude if the mistake's numbers are larger than the right ones. `wrong` runs only after a
/// failure.
Mistake gives(std::string name, std::function<Tensor<double>()> wrong, std::string sentence);

/// @brief Fits if exactly the elements at these indices are wrong, whatever stands there, and some others are
/// right.
Mistake wrong_where(std::string name, std::function<bool(const Index&)> where, std::string sentence);

/// @brief Fits if NaN stands exactly where it should not at these indices, and everything else is right.
Mistake nan_where(std::string name, std::function<bool(const Index&)> where, std::string sentence);

/// @brief Fits if exactly the elements at these indices were never written, and everything else is right.
Mistake unwritten_where(std::string name, std::function<bool(const Index&)> where, std::string sentence);

/// @brief Fits if every element is the right one times the same factor. "{}" in the sentence becomes that
/// factor. Takes at least three elements, not all alike, to be told from chance.
Mistake off_by_a_factor(std::string name, std::string sentence);

/// @brief Fits if the predicate holds, for patterns that the others cannot express.
Mistake shows(std::string name, std::function<bool(const Tensor<float>& got)> pattern, std::string sentence);

/// @brief Holds all mistakes against a wrong result: which explain it, and which it contradicts. Those that
/// it says nothing about are left out. likeliest_cause() chooses.
std::vector<Attempt> try_mistakes(const Mistakes& mistakes, const WrongResult& result);

}  // namespace course::grading
