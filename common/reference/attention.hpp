#pragma once

#include "tensor/tensor.hpp"

namespace course::reference {

/// What attention() finds, step by step.
struct Attention {
  Tensor<double> S;    ///< (B, H, Nq, Nk): scaled scores
  Tensor<double> P;    ///< (B, H, Nq, Nk): the softmax of each row of S
  Tensor<double> O;    ///< (B, H, Nq, D): the rows of V, weighed by P
  Tensor<double> lse;  ///< (B, H, Nq): log Σ_j exp(S_ij), natural logarithm
};

/// @brief S = Q·Kᵀ·scale, P = softmax(S) along keys, O = P·V, for each batch and head, in float64.
/// Shapes: Q is (B, H, Nq, D), K and V are (B, H, Nk, D), with any strides; results are contiguous.
/// Domain: a query that no key reaches (no keys, or only scores of -inf) gets P = 0, O = 0 and lse = -inf.
/// NaN
///         or +inf among the scores of a query makes its P, O and lse NaN. A weight of 0 times an infinity in
///         V is NaN.
/// Error:  sums of D, Nk and Nk terms in float64, one after the other. Nothing is rounded to float32, and
///         scores beyond its range are finite here.
/// Cost:   4 · B · H · Nq · Nk · D operations; S and P in full.
/// @throws std::invalid_argument unless all have four axes and these fit together.
Attention attention(const Tensor<float>& Q, const Tensor<float>& K, const Tensor<float>& V, double scale);

}  // namespace course::reference
