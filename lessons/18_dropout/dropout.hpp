#pragma once
/// @file
/// Contract of lesson 18: lesson 17's attention with dropout, forward and backward.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 128;  ///< numbers in a query, key or value, at most

/// @brief Attention as in lesson 17, whose contract holds in all that is not said here, with dropout: each
///         weight P_ij is kept with probability 1 - dropout. O = (P ∘ Z)·V, where Z_ij is 0 for a weight that
///         is dropped, and 1/(1 - dropout) for one that is kept. lse is that of lesson 17: nothing is missing
///         from it.
///         Query i of head h of Q in batch b drops key j if word j % 4 of philox({j / 4, i, h, b}, seed) in
///         common/device/philox.hpp is less than ⌊dropout · 2³²⌋. So the arguments decide, and neither tiles
///         nor threads.
/// Shapes: as in lesson 17; B, H, Nq and Nk are at most 2³², so that a word holds each of these indices.
/// Domain: dropout is at least 0 and less than 1. Below 2⁻³² it counts as 0: O and lse are those of lesson
///         17 to the bit, whatever the seed.
/// Error:  at most twice that of a plain float32 implementation. The same input gives the same bits every
///         time.
/// Cost:   the bytes of lesson 17, and a call of philox() for four weights; none if dropout is 0.
/// @throws std::invalid_argument as in lesson 17, and if dropout is less than 0, 1 or more, or NaN.
/// @throws std::runtime_error if CUDA refuses the launch.
void attention_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                       const float* sink, View<float, 4> O, View<float, 3> lse, float scale, bool causal,
                       std::int64_t window, std::int64_t sinks, float dropout, std::uint64_t seed);

/// @brief The gradients of attention_forward() with the same dropout and seed, for a gradient dO of O. With P
///         as in lesson 17 and Z as above: delta = rowsum(dO ∘ O), dP = (dO·Vᵀ) ∘ Z, dS = P ∘ (dP - delta),
///         dQ = dS·K·scale, dK = dSᵀ·Q·scale, dV = (P ∘ Z)ᵀ·dO, and dsink as in lesson 17.
/// Launch, shapes, domain, error: as in lesson 17. With a dropout below 2⁻³², its bits, whatever the seed.
///         The dP of a weight that is dropped is 0, whatever V and dO hold.
/// Cost:   the bytes of lesson 17, and two calls of philox() for four weights. Nothing of size Nq·Nk: Z is
///         stored nowhere.
/// @throws as attention_forward().
void attention_backward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                        const float* sink, View<const float, 4> O, View<const float, 3> lse,
                        View<const float, 4> dO, View<float, 3> delta, View<float, 4> dQ, View<float, 4> dK,
                        View<float, 4> dV, float* dsink, float scale, bool causal, std::int64_t window,
                        std::int64_t sinks, float dropout, std::uint64_t seed);
// [contract]

}  // namespace course
