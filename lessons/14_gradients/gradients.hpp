#pragma once
/// @file
/// Contract of lesson 14: from the gradient of an output to the gradients of the inputs, through a matrix
/// product, through a softmax, and through attention, which is made of both.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr int kBlockTile = 64;      ///< rows and columns of the tile that a block computes, at least
inline constexpr int kBlockThreads = 256;  ///< threads in a block of softmax_backward
inline constexpr std::int64_t kMaxRows = (std::int64_t{1} << 31) - 1;  ///< blocks that CUDA allows along x

/// @brief The gradients of Y = X·W for a gradient dY of Y: dX = dY·Wᵀ and dW = Xᵀ·dY.
/// Shapes: X and dX are (M, K), W and dW are (K, N), dY is (M, N), in device memory. Strides are in elements,
///         and not negative; exchanged, they stand for a transposed matrix. Elements of dX and of dW lie
///         apart from one another and from all else; what lies between them stays as it is. N = 0 makes dX
///         zero, M = 0 makes dW zero. For an empty dX or dW nothing is launched.
/// Launch: a kernel for each of dX and dW, whose blocks share the tiles; returns once both launches have
///         been accepted.
/// Error:  at most twice that of a float32 sum in the order of the axis that is summed over. NaN and
///         infinities follow IEEE 754. The same input gives the same bits every time.
/// Cost:   with T = kBlockTile, reads 4 * (M * N * ⌈K/T⌉ + K * N * ⌈M/T⌉) bytes for dX and
///         4 * (M * K * ⌈N/T⌉ + M * N * ⌈K/T⌉) bytes for dW or less, in whole sectors where one stride is 1.
///         Writes each element of dX and dW once, and nothing else: no matrix is copied to transpose it.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit together.
/// @throws std::runtime_error if CUDA refuses a launch.
void matmul_backward(View<const float, 2> X, View<const float, 2> W, View<const float, 2> dY,
                     View<float, 2> dX, View<float, 2> dW);

/// @brief The gradient of the scores S of P = softmax(S), along rows, for a gradient dP of P:
///         dS = P ∘ (dP - rowsum(P ∘ dP)): dS[i][j] = P[i][j] · (dP[i][j] - Σ_k P[i][k] · dP[i][k]).
/// Shapes: P, dP and dS are (rows, cols), in device memory. The elements of a row lie side by side, rows any
///         distance apart. dS overlaps nothing; what lies between its rows stays as it is. No rows or no
///         columns launch nothing.
/// Domain: where P is 0, dS is 0, and the element has no part in the sum, whatever dP holds there, also NaN
///         or an infinity: a row of zeros gives zeros. Elsewhere NaN and infinities follow IEEE 754; none
///         reaches another row. No element of P is negative, and a row of P need not sum to 1.
/// Launch: one kernel, with at least one block for every 32 rows; blocks of kBlockThreads threads, one for
///         each row, will do. Returns once the launch has been accepted.
/// Error:  at most twice that of a float32 computation that sums in 32 parts. The same input gives the same
///         bits every time.
/// Cost:   reads each element of P and of dP at most twice, in whole sectors; writes dS once. No other global
///         memory. At most 4 barriers a row.
/// @throws std::invalid_argument, naming the argument, if the shapes differ, if rows is above kMaxRows, or if
///         the elements of a row do not lie side by side.
/// @throws std::runtime_error if CUDA refuses the launch.
void softmax_backward(View<const float, 2> P, View<const float, 2> dP, View<float, 2> dS);

/// @brief The gradients of a head of attention, S = Q·Kᵀ·scale, P = softmax(S), O = P·V, for a gradient dO.
/// Shapes: Q, dO and dQ are (Nq, D), K, V, dK and dV are (Nk, D), P, dP and dS are (Nq, Nk). P, dP and dS are
///         laid out as for softmax_backward, the others as for matmul_backward. P need not come from Q and K.
/// Domain: as for those two. A V whose weights are all 0 reaches neither dS nor dQ nor dK. K, Q and dO enter
///         products, in which 0 times NaN or an infinity is NaN.
/// Launch: at most five kernels; returns once all launches have been accepted.
/// Error:  that of those two in each step, from what the step before it stored.
/// Cost:   theirs in each step; dP and dS take 8 · Nq · Nk bytes of memory.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit together.
/// @throws std::runtime_error if CUDA refuses a launch.
void attention_backward(View<const float, 2> Q, View<const float, 2> K, View<const float, 2> V,
                        View<const float, 2> P, View<const float, 2> dO, View<float, 2> dP, View<float, 2> dS,
                        View<float, 2> dQ, View<float, 2> dK, View<float, 2> dV, float scale);
// [contract]

}  // namespace course
