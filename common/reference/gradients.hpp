#pragma once

#include "tensor/tensor.hpp"

namespace course::reference {

/// The gradients of both factors of a product.
struct MatmulGradients {
  Tensor<double> dX;  ///< (M, K)
  Tensor<double> dW;  ///< (K, N)
};

/// @brief The gradients of Y = X·W for a gradient dY of Y, in float64: dX = dY·Wᵀ, dW = Xᵀ·dY.
/// Shapes: X is (M, K), W is (K, N), dY is (M, N), all with any strides; dX and dW are contiguous.
/// Error:  products are exact; at most N or M roundings of the sum to float64.
/// @throws std::invalid_argument unless the shapes fit together.
MatmulGradients matmul_backward(const Tensor<float>& X, const Tensor<float>& W, const Tensor<float>& dY);

/// @brief The gradient of S of P = softmax(S), along rows, for a gradient dP of P, in float64:
/// dS[i][j] = P[i][j] · (dP[i][j] - Σ_k P[i][k] · dP[i][k]).
/// Shapes: P and dP are (rows, cols) with any strides; dS has the same shape, contiguous.
/// Domain: where P is 0, dS is 0 and nothing is added to the sum, whatever dP holds. Elsewhere NaN and
///         infinities follow IEEE 754. A row of P need not sum to 1.
/// @throws std::invalid_argument unless both have two axes and the same shape.
Tensor<double> softmax_backward(const Tensor<float>& P, const Tensor<float>& dP);

}  // namespace course::reference
