#pragma once

#include "tensor/tensor.hpp"

namespace course::reference {

/// @brief y[c][r] = x[r][c], in float64.
/// Shapes: x is (rows, cols), with any strides; y is (cols, rows), contiguous.
/// Error:  none.
/// @throws std::invalid_argument unless x has two axes.
Tensor<double> transpose(const Tensor<float>& x);

}  // namespace course::reference
