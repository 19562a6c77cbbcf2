#pragma once
/// @file
/// Contract of lesson 22: attention on tensor cores, forward, with every mask of the course.

#include <cstdint>

#include "tensor/float16.hpp"
#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 256;  ///< numbers in a query, key or value, at most

/// Queries of a block, and keys of a tile, for D numbers in each.
constexpr std::int64_t queries_of_a_block(std::int64_t D) { return D <= 128 ? 128 : 64; }
constexpr std::int64_t keys_of_a_tile(std::int64_t D) { return D <= 128 ? 64 : 32; }

/// @brief O and lse of attention, for each batch and head, with any of: a causal mask, a window, sink tokens,
///         learned sinks, grouped heads. Query i stands at key p = i + Nk - Nq and sees key j if
///         (not causal, or j <= p) and (p - j < window, or j < sinks).
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H_kv, Nk, D), lse is (B, H, Nq), sink is (H) or nullptr, in
///         device memory; H_kv divides H, and is 0 if H is, and head h of Q reads head h / (H / H_kv). D is
///         a multiple of 8. Strides are in elements and not negative; the last axis of Q, K, V and O has
///         stride 1, their other axes multiples of 8, and each begins at a multiple of 16 bytes. lse has any
///         strides; sink has no gaps. O and lse do not overlap anything; what lies between their rows stays
///         as it is. `window` is any number from 1 on, `sinks` any from 0 on; Nq and Nk are at most 2³⁰.
///         Without queries nothing is launched.
/// Launch: one kernel, a block for each queries_of_a_block(D) of a head, with `causal` those with most keys
///         to load first; returns once it has been accepted.
/// Domain: `scale` is finite and not negative; above 2¹²⁷ it may count as infinite. sink[h] joins the
///         denominator of each row of head h, unscaled, and has no value. A query that sees no key, or only
///         scores of -inf, gets O = 0 and lse = sink[h], or -inf without a sink. NaN or +inf among the scores
///         that a query sees makes its O and lse NaN, and so does such a sink if it sees any key; if it sees
///         none, it may. Where `scale` is 0, a product Q·Kᵀ of -inf may give a score of -inf or NaN. Tiles of
///         keys_of_a_tile(D) keys that no query of a block sees change nothing, whatever they hold.
/// Error:  S, m, l, O and lse are float32 until the end; l is the sum of the weights before these are rounded
///         to the type of V for the product P·V. O is rounded once more, at the end. Beyond these roundings
///         at most twice the error of a plain float32 implementation, and what tensor cores cut off, as in
///         lesson 21. The same input gives the same bits every time, and a window that hides nothing those
///         of none.
/// Cost:   reads Q once, and K and V once for every block, less the tiles of keys of which none of its
///         queries sees a key, in whole sectors; writes O and lse once. Nothing of size Nq·Nk. No bank
///         conflicts; at most one barrier for each tile, and two more.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit, if H_kv does not divide H
///         or is not 0 where H is, if D is not 8, 16, 24 ... kMaxDim, if rows have gaps within or do not
///         begin at multiples of 16 bytes, if Nq or Nk, scale, window or sinks is out of range.
/// @throws std::runtime_error if CUDA refuses the launch.
void attention_forward_bfloat16(View<const bfloat16, 4> Q, View<const bfloat16, 4> K,
                                View<const bfloat16, 4> V, const float* sink, View<bfloat16, 4> O,
                                View<float, 3> lse, float scale, bool causal, std::int64_t window,
                                std::int64_t sinks);
void attention_forward_float16(View<const float16, 4> Q, View<const float16, 4> K, View<const float16, 4> V,
                               const float* sink, View<float16, 4> O, View<float, 3> lse, float scale,
                               bool causal, std::int64_t window, std::int64_t sinks);
// [contract]

}  // namespace course
