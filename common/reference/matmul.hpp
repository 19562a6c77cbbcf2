#pragma once

#include "tensor/tensor.hpp"

namespace course::reference {

/// @brief C[i][j] = Σ_k A[i][k] · B[k][j], in float64, in the order of k.
/// Shapes: A is (M, K), B is (K, N), both with any strides; C is (M, N), contiguous.
/// Error:  products are exact; at most K roundings of the sum to float64.
/// @throws std::invalid_argument unless A and B have two axes, and A as many columns as B has rows.
Tensor<double> matmul(const Tensor<float>& A, const Tensor<float>& B);

}  // namespace course::reference
