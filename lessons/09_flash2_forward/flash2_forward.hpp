#pragma once
/// @file
/// Contract of lesson 09: FlashAttention-2, forward. Attention without S and P in global memory.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 128;  ///< numbers in a query, key or value, at most

/// @brief O = softmax(Q·Kᵀ·scale)·V and lse = log Σ exp of each row's scores, for each batch and head.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), lse is (B, H, Nq), in device memory. Strides
///         are in elements and not negative; the last axis of Q, K, V and O has stride 1, all others any, so
///         that both [batch, head, seq, dim] and [batch, seq, head, dim] come as they are. O and lse do not
///         overlap anything; what lies between their rows stays as it is. Without queries nothing is
///         launched. Without keys O is 0 and lse is -inf.
/// Launch: one kernel; returns once it has been accepted. A block computes at most 128 rows of O, all of one
///         batch and head.
/// Domain: lse is a natural logarithm. A row whose scores are all -inf gives O = 0 and lse = -inf. NaN or
///         +inf in a row's scores makes its O and lse NaN. A weight of 0 times NaN or an infinity in V is
///         NaN.
/// Error:  at most twice that of a plain float32 implementation. The same input gives the same bits every
///         time.
/// Cost:   reads Q once, K and V once for every 64 queries at most, in whole sectors; writes O and lse once.
///         No other global memory: nothing of size Nq·Nk. 4·B·H·Nq·Nk·D operations in the products.
/// Source: Dao 2023 (arXiv:2307.08691), Algorithm 1.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit, if D is not 1 to kMaxDim, or
///         if the elements of a row do not lie side by side.
/// @throws std::runtime_error if CUDA refuses the launch.
void flash2_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                    View<float, 3> lse, float scale);

/// @brief The same as a first version: a thread for each row of O, which meets one key after the other.
/// Launch: one kernel, without shared memory and barriers. Nothing is said about how often K and V are read.
void flash2_forward_rows(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                         View<float, 4> O, View<float, 3> lse, float scale);
// [contract]

}  // namespace course
