#pragma once
/// @file
/// Contract of lesson 21: products of matrices of 16-bit numbers on tensor cores, with sums in float32.

#include <cstdint>

#include "tensor/float16.hpp"
#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kBlockRows = 128;  ///< rows of C that a block computes, or columns
inline constexpr std::int64_t kBlockCols = 256;  ///< columns of C that a block computes, or rows
inline constexpr std::int64_t kBlockDepth = 64;  ///< steps of k in one stage of shared memory

/// @brief C = A·B for one product of 16 x 8 x 16 by one warp, and what each lane brought to it.
/// Shapes: A is (16, 16), B is (16, 8), C is (16, 8); A_held is (32, 8), B_held is (32, 4). Any strides.
/// Result: A_held(lane, 2r) and A_held(lane, 2r + 1) are the numbers in register r of the lane's fragment of
///         A, the lower half first; B_held likewise.
/// Launch: one block of 32 threads. Returns once it has been accepted.
/// @throws std::invalid_argument if a shape is another one, naming the argument.
void multiply_fragments_bfloat16(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<float, 2> C,
                                 View<bfloat16, 2> A_held, View<bfloat16, 2> B_held);
void multiply_fragments_float16(View<const float16, 2> A, View<const float16, 2> B, View<float, 2> C,
                                View<float16, 2> A_held, View<float16, 2> B_held);

/// @brief C = A·B on tensor cores.
/// Shapes: A is (M, K), B is (K, N), C is (M, N), in device memory. A and B are copied 16 bytes at a time:
///         each begins at a multiple of 16 bytes, has an axis with stride 1 and a multiple of 8 numbers, and
///         a multiple of 8 as the stride of its other axis, whose size is any. These are row- and
///         column-major matrices, and parts of them. C has any strides; its elements lie apart from one
///         another and from A and B, and what lies between them stays as it is. K = 0 makes C zero. An empty
///         C launches nothing.
/// Launch: one kernel, a block for each tile of R x S = kBlockRows x kBlockCols of C; if C is column-major,
///         R x S = kBlockCols x kBlockRows. Returns once it has been accepted.
/// Error:  products and sums in float32: at most twice that of a float32 sum in the order of k, and
///         ⌈K/16⌉ * 2⁻²³ * Σ|a * b|, since tensor cores cut off where float32 rounds. The variants without
///         _to_float32 then round once, to the type of C. NaN and infinities follow IEEE 754. The same input
///         gives the same bits every time.
/// Cost:   reads 2 * (M * K * ⌈N/S⌉ + K * N * ⌈M/R⌉) bytes of A and B or less, in whole
///         sectors, and nothing passes through registers on the way to shared memory, which has no bank
///         conflicts. ⌈M/16⌉ * ⌈N/8⌉ * ⌈K/16⌉ products of 16 x 8 x 16, of whole tiles. One barrier for every
///         kBlockDepth steps of k, and at most two more.
/// @throws std::invalid_argument if A, B and C do not fit together, or if A or B cannot be copied 16 bytes at
///         a time, naming the argument.
/// @throws std::runtime_error if CUDA refuses the launch.
void matmul_bfloat16(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<bfloat16, 2> C);
void matmul_float16(View<const float16, 2> A, View<const float16, 2> B, View<float16, 2> C);
void matmul_bfloat16_to_float32(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<float, 2> C);
void matmul_float16_to_float32(View<const float16, 2> A, View<const float16, 2> B, View<float, 2> C);
// [contract]

}  // namespace course
