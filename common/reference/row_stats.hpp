#pragma once

#include "tensor/tensor.hpp"

namespace course::reference {

/// What a softmax needs to know of each row of x: the maximum, and Σ_j exp(x[i][j] - max[i]).
struct RowStats {
  Tensor<double> max, sum;  // (rows)
};

/// @brief The statistics of every row, in float64: first the maximum, then the sum.
/// Shapes: x is (rows, cols) with any strides.
/// Domain: a row of no columns or of only -inf has the maximum -inf and the sum 0. With NaN or +inf in it, a
///         row's sum is NaN; its maximum is then the largest of the other numbers, or +inf.
/// Error:  exp and the sum's cols additions are rounded to float64.
/// @throws std::invalid_argument unless x has two axes.
RowStats row_stats(const Tensor<float>& x);

}  // namespace course::reference
