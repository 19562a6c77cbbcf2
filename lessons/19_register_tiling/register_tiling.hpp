#pragma once
/// @file
/// Contract of lesson 19: FlashAttention-2, forward, as fast as float32 allows.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 128;  ///< numbers in a query, key or value, at most

/// @brief O = softmax(Q·Kᵀ·scale)·V and lse = log Σ exp of each row's scores, for each batch and head. With
///         `causal`, query i sees the keys j <= i + Nk - Nq alone: the last query stands beside the last key.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), lse is (B, H, Nq), in device memory. Strides
///         are in elements and not negative; the last axis of Q, K, V and O has stride 1, all others any, so
///         that both [batch, head, seq, dim] and [batch, seq, head, dim] come as they are. O and lse do not
///         overlap anything; what lies between their rows stays as it is. Without queries nothing is
///         launched.
/// Launch: one kernel, with a block for each tile of 64 to 128 queries, head and batch. Returns once it has
///         been accepted.
/// Domain: lse is a natural logarithm. A query that sees no key, or only scores of -inf, gets O = 0 and
///         lse = -inf. NaN or +inf among the scores that a query sees makes its O and lse NaN; a scale of 0
///         times a product of -inf may count as -inf, and a scale above 2¹²⁷ as infinite. K may hold anything
///         where the query does not see it. A weight of 0 times NaN or an infinity in V is NaN, and this
///         holds for a hidden key, too, if its tile was loaded.
/// Error:  at most twice that of a plain float32 implementation, also where scores are as large as 1000. The
///         same input gives the same bits every time.
/// Cost:   reads Q once; K and V for each tile of queries, up to the last key that one of them sees, rounded
///         up to a tile of 16, 32, 64 or 128 keys; all in whole sectors. Writes O and lse once. No other
///         global memory. In each tile, at most one wavefront of shared memory for every 256 multiply-adds of
///         the two products, beside what moves tiles there, and no bank conflicts.
/// Source: Dao 2023 (arXiv:2307.08691), Algorithm 1 and section 3.1.1.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit, if D is not 1 to kMaxDim, or
///         if the elements of a row do not lie side by side.
/// @throws std::runtime_error if CUDA refuses the launch.
void flash2_forward_fast(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                         View<float, 4> O, View<float, 3> lse, float scale, bool causal);
// [contract]

}  // namespace course
