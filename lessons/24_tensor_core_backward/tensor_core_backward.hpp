#pragma once
/// @file
/// Contract of lesson 24: the gradients of attention with every mask of the course and dropout, in 16 bits.

#include <cstdint>

#include "tensor/float16.hpp"
#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 128;  ///< numbers in a query, key or value, at most

/// @brief The gradients of attention for a gradient dO of O, as in lessons 17 and 18, from numbers of 16
///         bits. With P = exp(Q·Kᵀ·scale - lse), 0 where a query does not see a key, and Z of lesson 18's
///         dropout: delta = rowsum(dO ∘ O), dP = (dO·Vᵀ) ∘ Z, dS = P ∘ (dP - delta), dQ = dS·K·scale, dK =
///         dSᵀ·Q·scale, dV = (P ∘ Z)ᵀ·dO, and dsink_h = -Σ exp(sink_h - lse)·delta over the rows of head h in
///         all batches. P ∘ Z and dS are rounded to 16 bits before they enter a product; S, dP, delta and all
///         sums are float32.
/// Shapes: Q, O, dO, dQ are (B, H, Nq, D), K, V, dK, dV are (B, H_kv, Nk, D), lse and delta are (B, H, Nq),
///         sink and dsink are (H), or nullptr both; H_kv divides H, and is 0 if H is, and head h of Q reads
///         head h / (H / H_kv). Nq and Nk are at most 2³⁰. D is a multiple of 8, at most kMaxDim. Strides
///         are in elements and not negative; the last axis of what has 16 bits has stride 1, and every other
///         stride of Q, K, V, O and dO is a multiple of 8, so that rows begin at multiples of 16 bytes; lse
///         and delta have any; sink and dsink have no gaps. Results do not overlap anything; what lies
///         between their rows stays as it is. Without queries dK, dV and dsink are 0; without keys dQ is 0.
/// Launch: at most four kernels: delta; dK and dV; dQ; with a sink, dsink. One that has nothing to write is
///         not launched. With `causal` and no window, the blocks with most to load begin first in each.
///         Returns once they have been accepted.
/// Domain: as in lessons 17 and 18: query i stands at key p = i + Nk - Nq and sees key j if (not causal, or
///         j <= p) and (p - j < window, or j < sinks). A weight of 0 takes no part in dS, and one that is
///         dropped has a dP of 0, whatever V and dO hold. A query that sees no key, or only scores of -inf,
///         so that its lse is -inf, has dQ = 0 and no part in dK and dV. NaN in lse, Q, K, V, O or dO makes
///         what it enters NaN, also as 0 times NaN within the tiles that meet. A scale above 2¹²⁷ may count
///         as infinite. float16 ends at 65504: a dS or a result beyond it is infinite.
/// Error:  at most twice that of a plain float32 implementation on the same numbers, and what rounding P ∘ Z,
///         dS and the results to 16 bits costs. The same input gives the same bits every time.
/// Cost:   7 products of Nq x Nk x D for each head, on tensor cores. Reads Q and dO once for every 128 keys,
///         and K and V once for every 128 queries of each head, less the tiles in which no query sees a key,
///         and each of them once more; writes each result once, and nothing else. Nothing of size Nq·Nk.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit, if H_kv does not divide H
///         or is not 0 where H is, if Nq or Nk is more than 2³⁰, if D is not a multiple of 8 from 8 to
///         kMaxDim, if rows do not lie as said above, if window is less than 1, sinks less than 0, or
///         dropout less than 0, 1 or more, or NaN.
/// @throws std::runtime_error if CUDA refuses the launch.
void attention_backward_bfloat16(View<const bfloat16, 4> Q, View<const bfloat16, 4> K,
                                 View<const bfloat16, 4> V, const float* sink, View<const bfloat16, 4> O,
                                 View<const float, 3> lse, View<const bfloat16, 4> dO, View<float, 3> delta,
                                 View<bfloat16, 4> dQ, View<bfloat16, 4> dK, View<bfloat16, 4> dV,
                                 float* dsink, float scale, bool causal, std::int64_t window,
                                 std::int64_t sinks, float dropout, std::uint64_t seed);

/// @brief The same for float16.
void attention_backward_float16(View<const float16, 4> Q, View<const float16, 4> K, View<const float16, 4> V,
                                const float* sink, View<const float16, 4> O, View<const float, 3> lse,
                                View<const float16, 4> dO, View<float, 3> delta, View<float16, 4> dQ,
                                View<float16, 4> dK, View<float16, 4> dV, float* dsink, float scale,
                                bool causal, std::int64_t window, std::int64_t sinks, float dropout,
                                std::uint64_t seed);
// [contract]

}  // namespace course
