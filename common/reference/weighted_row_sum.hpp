#pragma once

#include "tensor/tensor.hpp"

namespace course::reference {

/// @brief y[i] = Σ_j w[j] · x[i][j], in float64, column by column.
/// Shapes: x is (rows, cols) with any strides, w is (cols); y is (rows), contiguous.
/// Error:  products are exact; at most cols roundings of the sum to float64.
/// @throws std::invalid_argument unless x has two axes and w one as long as the second of them.
Tensor<double> weighted_row_sum(const Tensor<float>& x, const Tensor<float>& w);

}  // namespace course::reference
