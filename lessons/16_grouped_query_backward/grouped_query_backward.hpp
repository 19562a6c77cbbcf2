#pragma once
/// @file
/// Contract of lesson 16: the backward pass where several heads of Q share a head of K and V.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 128;  ///< numbers in a query, key or value, at most

/// @brief As flash2_backward() of lesson 15, where heads of Q share heads of K and V: head h of Q reads head
///         h / (H / H_kv), so dK and dV of a head are sums over the H / H_kv heads of Q that read it.
/// Shapes: Q, O, dO, dQ are (B, H, Nq, D), K, V, dK, dV are (B, H_kv, Nk, D), where H_kv divides H, and is 0
///         if H is, lse and delta are (B, H, Nq), in device memory. Strides are in elements and not
///         negative; the last axis of all but lse and delta has stride 1, all others any. delta, dQ, dK and
///         dV do not overlap anything; what lies between their rows stays as it is. Without queries dK and
///         dV are 0; without keys dQ is 0.
/// Launch: three kernels, one after the other: delta; dK and dV; dQ. One that has nothing to write is not
///         launched. The blocks of each share tiles and heads. Returns once they have been accepted.
/// Domain: a weight of 0 takes no part in dS, whatever V and dO hold. A query that sees no key, or only
///         scores of -inf, so that its lse is -inf, has dQ = 0 and no part in dK and dV. NaN in lse, Q, K,
///         V, O or dO makes what it enters NaN, also as 0 times NaN.
/// Error:  at most twice that of a plain float32 implementation. The same input gives the same bits every
///         time: no sum is left to chance.
/// Cost:   the kernel of dK and dV reads K and V once, for all heads that share them, and Q and dO at most
///         twice for every 64 keys; that of dQ reads Q and dO once, and K and V at most twice for every 64
///         queries of each head of Q. In whole sectors. Writes each result once, and nothing else: no dK or
///         dV of single heads. With `causal`, tiles that no query sees are not read.
/// Source: Ainslie et al. 2023 (arXiv:2305.13245); Dao 2023 (arXiv:2307.08691), section 3.1.2.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit, if H_kv does not divide H
///         or is not 0 where H is (K), if D is not 1 to kMaxDim, or if the elements of a row do not lie side
///         by side.
/// @throws std::runtime_error if CUDA refuses a launch.
void grouped_query_backward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                            View<const float, 4> O, View<const float, 3> lse, View<const float, 4> dO,
                            View<float, 3> delta, View<float, 4> dQ, View<float, 4> dK, View<float, 4> dV,
                            float scale, bool causal);
// [contract]

}  // namespace course
