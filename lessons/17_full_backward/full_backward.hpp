#pragma once
/// @file
/// Contract of lesson 17: attention with every mask of the course, forward and backward.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 128;  ///< numbers in a query, key or value, at most

/// @brief O and lse of attention, for each batch and head, with any of: a causal mask, a window, sink tokens,
///         learned sinks, grouped heads. Query i stands at key p = i + Nk - Nq and sees key j if
///         (not causal, or j <= p) and (p - j < window, or j < sinks).
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H_kv, Nk, D), lse is (B, H, Nq), sink is (H) or nullptr, in
///         device memory; H_kv divides H, and is 0 if H is, and head h of Q reads head h / (H / H_kv).
///         Strides are in elements and not negative; the last axis of Q, K, V and O has stride 1, all others
///         any; sink has no gaps. O and lse do not overlap anything; what lies between their rows stays as
///         it is. `window` is any number from 1 on, `sinks` any from 0 on. Without queries nothing is
///         launched.
/// Launch: one kernel, whose blocks share tiles and heads; returns once it has been accepted.
/// Domain: sink[h] joins the denominator of each row of head h, unscaled, and has no value. A query that sees
///         no key, or only scores of -inf, gets O = 0 and lse = sink[h], or -inf without a sink. NaN or +inf
///         among the scores that a query sees makes its O and lse NaN, and so does such a sink if it sees any
///         key; if it sees none, it may. Tiles of 64 keys that no query of a tile sees change nothing,
///         whatever they hold.
/// Error:  at most twice that of a plain float32 implementation. The same input gives the same bits every
///         time, and a window that hides nothing those of none.
/// Cost:   reads Q once, and K and V once for every 64 queries (or more), less the tiles of 64 keys (or
///         fewer) of which none of these queries sees a key, in whole sectors; writes O and lse once. Nothing
///         of size Nq·Nk.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit, if H_kv does not divide H
///         or is not 0 where H is, if D is not 1 to kMaxDim, if the elements of a row do not lie side by
///         side, if window is less than 1 or sinks less than 0.
/// @throws std::runtime_error if CUDA refuses the launch.
void attention_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                       const float* sink, View<float, 4> O, View<float, 3> lse, float scale, bool causal,
                       std::int64_t window, std::int64_t sinks);

/// @brief The gradients of attention_forward() for a gradient dO of O, from its O and lse. With
///         P = exp(Q·Kᵀ·scale - lse), 0 where a query does not see a key, dP = dO·Vᵀ and
///         dS = P ∘ (dP - delta): delta = rowsum(dO ∘ O), dQ = dS·K·scale, dK = dSᵀ·Q·scale, dV = Pᵀ·dO, and
///         dsink_h = -Σ exp(sink_h - lse)·delta over the rows of head h in all batches.
/// Shapes: dO, dQ as Q; dK, dV as K; delta as lse; dsink is (H), or nullptr where sink is. Otherwise as
///         above; the results do not overlap anything. Without queries dK, dV and dsink are 0; without keys
///         dQ is 0.
/// Launch: at most four kernels: delta; dK and dV; dQ; with a sink, dsink. One that has nothing to write is
///         not launched. Returns once they have been accepted.
/// Domain: a weight of 0 takes no part in dS, whatever V and dO hold. A query that sees no key, or only
///         scores of -inf, so that its lse is -inf, has dQ = 0 and no part in dK and dV. NaN in lse, Q, K,
///         V, O or dO makes what it enters NaN, also as 0 times NaN within the tiles that meet.
/// Error:  at most twice that of a plain float32 implementation. The same input gives the same bits every
///         time, and a window that hides nothing those of none: no sum is left to chance.
/// Cost:   reads Q and dO at most twice for every 64 keys, and K and V at most twice for every 64 queries of
///         each head, less the tiles of 64 queries and 64 keys in which no query sees a key, in whole
///         sectors; writes each result once, and nothing else.
/// @throws as attention_forward().
void attention_backward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                        const float* sink, View<const float, 4> O, View<const float, 3> lse,
                        View<const float, 4> dO, View<float, 3> delta, View<float, 4> dQ, View<float, 4> dK,
                        View<float, 4> dV, float* dsink, float scale, bool causal, std::int64_t window,
                        std::int64_t sinks);
// [contract]

}  // namespace course
