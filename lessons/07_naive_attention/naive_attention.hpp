#pragma once
/// @file
/// Contract of lesson 07: attention in three kernels, with all scores and all weights in global memory.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 128;  ///< numbers in a query, key or value, at most

/// @brief S = Q·Kᵀ·scale, P = softmax(S) along the keys, O = P·V, for each batch and head.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), S, P are (B, H, Nq, Nk), in device memory. Strides
///         are in elements and not negative; the last axis has stride 1, the others any, so that both
///         [batch, head, seq, dim] and [batch, seq, head, dim] come as they are. S, P and O do not overlap
///         anything; what lies between their rows stays as it is. Without queries nothing is launched.
///         Without keys O is 0.
/// Launch: three kernels in this order: the first writes S, the second reads S and writes P, the third reads
///         P and writes O. Returns once they have been accepted.
/// Domain: a row of S that is only -inf gives zeros in P and O. NaN or +inf in a row of S makes that row of P
///         and O NaN. A weight of 0 times NaN or an infinity in V is NaN.
/// Error:  at most twice that of a plain float32 implementation. The same input gives the same bits every
///         time.
/// Cost:   writes S, P and O once. Reads S at most 3 times. Of the products: reads Q once for every 32 keys
///         at most, K and V once for every 32 queries, P once for every 32 columns of O, in whole sectors.
///         4·B·H·Nq·Nk·D operations in the products.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit, if D is not 1 to kMaxDim, or
///         if the elements of a row do not lie side by side.
/// @throws std::runtime_error if CUDA refuses a launch.
void naive_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> S,
                     View<float, 4> P, View<float, 4> O, float scale);
// [contract]

}  // namespace course
