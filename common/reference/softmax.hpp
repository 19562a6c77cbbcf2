#pragma once

#include "tensor/tensor.hpp"

namespace course::reference {

/// @brief y[i][j] = exp(x[i][j] - m_i) / Σ_k exp(x[i][k] - m_i) with m_i = max_k x[i][k], in float64.
/// Shapes: x is (rows, cols) with any strides; y has the same shape, contiguous.
/// Domain: a row of only -inf becomes zeros. A row with a NaN or +inf becomes NaN throughout.
/// Error:  a few roundings to float64 for each exponential, and cols of the sum.
/// @throws std::invalid_argument unless x has two axes.
Tensor<double> softmax(const Tensor<float>& x);

}  // namespace course::reference
