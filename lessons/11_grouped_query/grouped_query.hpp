#pragma once
/// @file
/// Contract of lesson 11: grouped-query attention. Several heads of Q share a head of K and V.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 128;  ///< numbers in a query, key or value, at most

/// @brief FlashAttention-2, forward, where heads of Q share heads of K and V: head h of Q reads head
///         h / (H / H_kv). With `causal`, query i sees key j only if j <= i + Nk - Nq.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H_kv, Nk, D), where H_kv divides H (0 divides only 0), lse is
///         (B, H, Nq), in device memory. Strides are in elements and not negative; the last axis of Q, K, V
///         and O has stride 1, all others any, so that both [batch, head, seq, dim] and [batch, seq, head,
///         dim] come as they are. O and lse do not overlap anything; what lies between their rows stays as it
///         is. Without queries nothing is launched.
/// Launch: one kernel; returns once it has been accepted. A block computes at most 128 rows of O, of heads of
///         one batch that read the same head of K and V.
/// Domain: lse is a natural logarithm. A query that sees no key, or only scores of -inf, gets O = 0 and
///         lse = -inf. NaN or +inf among the scores that a query sees makes its O and lse NaN. K may hold
///         anything where a query does not see it. A weight of 0 times NaN or an infinity in V is NaN, also
///         where the query does not see the key, unless its tile is left out.
/// Error:  at most twice that of a plain float32 implementation. The same input gives the same bits every
///         time.
/// Cost:   let the rows of a head of K and V be the queries of all heads that read it, (H / H_kv)·Nq of them.
///         Reads Q once, and K and V once for every 64 rows at most: with few queries, once. With `causal`
///         leaves out tiles of keys that none of these rows sees. In whole sectors. Writes O and lse once.
///         No other global memory.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit, if D is not 1 to kMaxDim, if
///         H_kv does not divide H (K), or if the elements of a row do not lie side by side.
/// @throws std::runtime_error if CUDA refuses the launch.
void grouped_query_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                             View<float, 4> O, View<float, 3> lse, float scale, bool causal);
// [contract]

}  // namespace course
