#pragma once
/// @file
/// Contract of lesson 08: FlashAttention, forward. Attention tile by tile, with O, l and m in global memory.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 128;  ///< numbers in a query, key or value, at most

/// @brief O = softmax(Q·Kᵀ·scale)·V, m = the maximum of each row's scores s, l = the row's Σ exp(s - m), for
///         each batch and head.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), l, m are (B, H, Nq), in device memory. Strides are
///         in elements and not negative; the last axis of Q, K, V and O has stride 1, all others any, so that
///         both [batch, head, seq, dim] and [batch, seq, head, dim] come as they are. O, l and m do not
///         overlap anything; what lies between their rows stays as it is. Without queries nothing is
///         launched. Without keys O is 0, l is 0 and m is -inf.
/// Launch: one kernel, with a block for each head of each batch; returns once it has been accepted.
/// Domain: a row whose scores are all -inf gives O = 0, l = 0 and m = -inf. NaN or +inf among a row's scores
///         makes its O and l NaN, and its m is then of no particular value. A weight of 0 times NaN or an
///         infinity in V is NaN.
/// Error:  at most twice that of a plain float32 implementation. The same input gives the same bits every
///         time.
/// Cost:   reads K and V once. For each tile of keys, at least 32 of them, reads Q, O, l and m once and
///         writes O, l and m once; writes them once more before the first. In whole sectors, and no other
///         global memory: nothing of size Nq·Nk. 4·B·H·Nq·Nk·D operations in the products.
/// Source: Dao, Fu, Ermon, Rudra, Ré 2022 (arXiv:2205.14135), Algorithm 1.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit, if D is not 1 to kMaxDim, or
///         if the elements of a row do not lie side by side.
/// @throws std::runtime_error if CUDA refuses the launch.
void flash1_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                    View<float, 3> l, View<float, 3> m, float scale);
// [contract]

}  // namespace course
