#pragma once
/// @file
/// What a backward kernel that deviates reads: rows of the tensors, lse and delta.

#include <optional>
#include <vector>

#include "attention/gradient_deviation.hpp"

namespace course::attention_tests {

/// Rows of one batch and head, as a kernel reads them: [begin, end), of D numbers.
class Rows {
 public:
  Rows() = default;
  Rows(const Tensor<float>& x, const std::optional<Reader>& wrong, Int b, Int h, Int begin, Int end, Int D);
  const double* operator[](Int row) const { return values_.data() + (row - begin_) * D_; }

 private:
  Int begin_ = 0, D_ = 0;
  std::vector<double> values_;
};

/// Σ_d a[d] · b[d].
double dot(const double* a, const double* b, Int n);

/// What stands beside the rows of Q, as a kernel that deviates so takes it. Refers to both.
class RowValues {
 public:
  RowValues(const BackwardProblem& p, const GradientDeviation& how) : p_(p), how_(how) {}

  double lse(Int b, Int h, Int i) const;
  /// The result.
  double delta(Int b, Int h, Int i) const;
  /// What enters dS.
  double delta_in_dS(Int b, Int h, Int i) const;

 private:
  const BackwardProblem& p_;
  const GradientDeviation& how_;
};

}  // namespace course::attention_tests
