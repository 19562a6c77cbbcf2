#pragma once
/// @file
/// Contract of lesson 06: the product of two matrices, twice: with one element of C a thread, from tiles in
/// shared memory, and with a tile of C in the registers of each thread.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr int kTile = 32;  ///< rows and columns of the tile of C that a block of matmul_tiled computes
inline constexpr int kBlockTile = 64;  ///< the same for matmul, at least

/// @brief C = A·B: C[i][j] = Σ_k A[i][k] · B[k][j], on matrices in device memory.
/// Shapes: A is (M, K), B is (K, N), C is (M, N). Element (r, c) of X is
///         X.data[r * X.strides[0] + c * X.strides[1]]. Strides are in elements, and not negative; exchanged,
///         they stand for a transposed matrix. Elements of C lie apart from one another and from A and B;
///         what lies between them stays as it is. K = 0 makes C zero. An empty C launches nothing.
/// Launch: one kernel, whose blocks share the tiles of C. Every thread computes a tile of at least 4 x 4
///         elements of C in registers.
/// Error:  at most twice that of a float32 sum in the order of k. NaN and infinities follow IEEE 754. The
///         same input gives the same bits every time.
/// Cost:   with T = kBlockTile, reads 4 * (M * K * ⌈N/T⌉ + K * N * ⌈M/T⌉) bytes of A and B or less, in whole
///         sectors where one stride is 1, and writes each element of C once. Shared memory has no bank
///         conflicts. For every float that a thread reads from it, at least 2 multiply-adds. At most 2
///         barriers for 8 steps of k.
/// @throws std::invalid_argument if A, B and C do not fit together; it names the one that does not fit.
/// @throws std::runtime_error if CUDA refuses the launch.
void matmul(View<const float, 2> A, View<const float, 2> B, View<float, 2> C);

/// @brief The same with T = kTile, where each thread computes one element of C and reads two floats of shared
///         memory for each multiply-add. At most 2 barriers for 32 steps of k.
void matmul_tiled(View<const float, 2> A, View<const float, 2> B, View<float, 2> C);
// [contract]

}  // namespace course
