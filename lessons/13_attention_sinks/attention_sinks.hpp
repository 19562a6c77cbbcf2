#pragma once
/// @file
/// Contract of lesson 13: attention sinks. What a window would lose: the first keys, and a place for weight
/// to go.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 128;  ///< numbers in a query, key or value, at most

/// @brief FlashAttention-2, forward, with a sliding window and two kinds of sinks.
/// Sink tokens: query i stands at key p = i + Nk - Nq, and sees key j if j <= p and either j > p - window or
///         j < sinks. The first `sinks` keys stay seen.
/// Learned sink: a logit for each head. exp(sink_h) joins the denominator of every softmax of the head and
///         brings no value, so that weights sum to less than 1. It is not scaled. Without it sink is nullptr.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), lse is (B, H, Nq), sink is (H), in device memory.
///         Strides are in elements and not negative; the last axis of Q, K, V and O has stride 1, all others
///         any, so that both [batch, head, seq, dim] and [batch, seq, head, dim] come as they are. O and lse
///         do not overlap anything; what lies between their rows stays as it is. Without queries nothing is
///         launched.
/// Launch: one kernel; returns once it has been accepted. A block for each tile of queries, head and batch.
/// Domain: lse is a natural logarithm: log(Σ_j exp(S_ij) + exp(sink_h)). A query that sees no key, or only
///         scores of -inf, gets O = 0 and lse = sink_h, or -inf without a learned sink. NaN or +inf among the
///         scores that a query sees makes its O and lse NaN, and so does such a sink if it sees any key;
///         if it sees none, it may. A sink of -inf is none. K may hold anything where a query does not see
///         it. A weight of 0 times NaN or an infinity in V is NaN, also where the weight is 0 because the
///         query does not see the key, unless the whole tile is left out.
/// Error:  at most twice that of a plain float32 implementation. The same input gives the same bits every
///         time.
/// Cost:   reads Q once; for each tile of 16 to 128 queries, K and V of the sinks up to the last
///         query's position, and from the first to the last key in the window of one of the queries. Both are
///         rounded to tiles of 16, 32, 48 or 64 keys, and no tile is read twice. In whole sectors. Writes O
///         and lse once. No other global memory.
/// Source: Xiao et al. 2023 (arXiv:2309.17453) for sink tokens; Agarwal et al. 2025, the model card of
///         gpt-oss (arXiv:2508.10925), for learned sinks.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit, if D is not 1 to kMaxDim, if
///         window is less than 1 or sinks is less than 0, or if the elements of a row do not lie side by
///         side.
/// @throws std::runtime_error if CUDA refuses the launch.
void attention_with_sinks(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                          const float* sink, View<float, 4> O, View<float, 3> lse, float scale,
                          std::int64_t window, std::int64_t sinks);
// [contract]

}  // namespace course
