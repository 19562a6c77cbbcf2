#pragma once
/// @file
/// Contract of lesson 15: FlashAttention-2, backward. The gradients of attention without S, P, dP and dS in
/// global memory.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 128;  ///< numbers in a query, key or value, at most

/// @brief The gradients of O = softmax(Q·Kᵀ·scale)·V for a gradient dO of O, for each batch and head, from O
///         and lse of the forward pass. With `causal`, query i sees the keys j <= i + Nk - Nq alone. With
///         P = exp(Q·Kᵀ·scale - lse), dP = dO·Vᵀ and dS = P ∘ (dP - delta):
///         delta = rowsum(dO ∘ O), dQ = dS·K·scale, dK = dSᵀ·Q·scale, dV = Pᵀ·dO.
/// Shapes: Q, O, dO, dQ are (B, H, Nq, D), K, V, dK, dV are (B, H, Nk, D), lse and delta are (B, H, Nq), in
///         device memory. Strides are in elements and not negative; the last axis of all but lse and delta
///         has stride 1, all others any. delta, dQ, dK and dV do not overlap anything; what lies between
///         their rows stays as it is. Without queries dK and dV are 0; without keys dQ is 0.
/// Launch: three kernels, one after the other: delta; dK and dV; dQ. One that has nothing to write is not
///         launched. The blocks of each share tiles and heads. Returns once they have been accepted.
/// Domain: a weight of 0 takes no part in dS, whatever V and dO hold. A query that sees no key, or only
///         scores of -inf, so that its lse is -inf, has dQ = 0 and no part in dK and dV. NaN in lse, Q, K,
///         V, O or dO makes what it enters NaN, also as 0 times NaN.
/// Error:  at most twice that of a plain float32 implementation. The same input gives the same bits every
///         time: no sum is left to chance.
/// Cost:   reads Q and dO at most twice for every 64 keys, K and V at most twice for every 64 queries, and O
///         and dO once for delta, in whole sectors; each tensor once more for the tiles that stay. Writes
///         each result once. No other global memory: nothing of size Nq·Nk. With `causal`, tiles that no
///         query sees are not read. 14·B·H·Nq·Nk·D operations in seven products.
/// Source: Dao 2023 (arXiv:2307.08691), Algorithm 2, with dQ in a kernel of its own.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit, if D is not 1 to kMaxDim, or
///         if the elements of a row do not lie side by side.
/// @throws std::runtime_error if CUDA refuses a launch.
void flash2_backward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                     View<const float, 4> O, View<const float, 3> lse, View<const float, 4> dO,
                     View<float, 3> delta, View<float, 4> dQ, View<float, 4> dK, View<float, 4> dV,
                     float scale, bool causal);
// [contract]

}  // namespace course
