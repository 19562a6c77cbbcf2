#pragma once

#include "tensor/tensor.hpp"

namespace course::reference {

/// @brief c = a + b, element by element, in float64.
/// Shapes: a and b have the same shape, with any strides; c has it too, contiguous.
/// Error:  one rounding to float64; exact unless the magnitudes are more than 2^29 apart.
/// @throws std::invalid_argument if the shapes differ.
Tensor<double> vector_add(const Tensor<float>& a, const Tensor<float>& b);

}  // namespace course::reference
