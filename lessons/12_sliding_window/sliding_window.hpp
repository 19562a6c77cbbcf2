#pragma once
/// @file
/// Contract of lesson 12: sliding-window attention. A query sees the last keys up to its own position.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 128;  ///< numbers in a query, key or value, at most

/// @brief FlashAttention-2, forward, where query i stands at key p = i + Nk - Nq and sees keys p - window + 1
///         to p: `window` of them, its own among them.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), lse is (B, H, Nq), in device memory. Strides are
///         in elements and not negative; the last axis of Q, K, V and O has stride 1, all others any, so that
///         both [batch, head, seq, dim] and [batch, seq, head, dim] come as they are. O and lse do not
///         overlap anything; what lies between their rows stays as it is. Without queries nothing is
///         launched. `window` is any number from 1 on; one of Nk or more hides nothing.
/// Launch: one kernel; returns once it has been accepted. A block for each tile of queries, head and batch.
/// Domain: lse is a natural logarithm. A query that sees no key, or only scores of -inf, gets O = 0 and
///         lse = -inf. NaN or +inf among the scores that a query sees makes its O and lse NaN. K may hold
///         anything where a query does not see it. A weight of 0 times NaN or an infinity in V is NaN, also
///         where the weight is 0 because the query does not see the key, unless the whole tile is left out.
/// Error:  at most twice that of a plain float32 implementation. The same input gives the same bits every
///         time.
/// Cost:   reads Q once; for each tile of 16 to 128 queries, K and V from the first to the last key that one
///         of them sees, rounded to tiles of 16, 32, 48 or 64 keys, in whole sectors. Writes O and lse
///         once. No other global memory. 4·B·H·Nq·window·D operations in the products for the keys that are
///         seen.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit, if D is not 1 to kMaxDim, if
///         window is less than 1, or if the elements of a row do not lie side by side.
/// @throws std::runtime_error if CUDA refuses the launch.
void sliding_window_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                              View<float, 4> O, View<float, 3> lse, float scale, std::int64_t window);
// [contract]

}  // namespace course
