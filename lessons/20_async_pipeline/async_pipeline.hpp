#pragma once
/// @file
/// Contract of lesson 20: a copy and a matrix product whose loads run in the background, several tiles ahead.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr int kMaxStages = 4;  ///< tiles of a block that are in shared memory at a time, at most
inline constexpr std::int64_t kCopyTile =
    1024;  ///< floats that a block of copy_through_shared moves at a time
inline constexpr std::int64_t kProductTile =
    128;  ///< rows and columns of C that a block of matmul_staged computes
inline constexpr std::int64_t kProductDepth = 8;  ///< steps of k in one stage of matmul_staged

/// @brief y = x by way of shared memory, with asynchronous copies that run up to stages - 1 tiles ahead.
/// Shapes: x and y hold n floats each, in device memory, do not overlap and begin at multiples of 16 bytes.
///         n = 0 is legal and launches nothing.
/// Launch: one kernel of as many blocks as there are tiles, but at most `blocks`; block b moves the tiles b,
///         b + blocks, b + 2 · blocks and so on. While a thread stores its part of a tile, its parts of the
///         next stages - 1 tiles of its block are on their way. Returns once the launch has been accepted.
/// Cost:   reads 4n bytes, 16 at a time, and writes 4n bytes. No barriers: a thread stores what it has
///         fetched itself.
/// @throws std::invalid_argument if n is negative, if stages is not 1 to kMaxStages, or if blocks is less
///         than 1.
/// @throws std::runtime_error if CUDA refuses the launch.
void copy_through_shared(const float* x, float* y, std::int64_t n, int stages, int blocks);

/// @brief C = A·B as in lesson 06. While a slab of A and B is multiplied, the next stages - 1 are on their
///         way.
/// Shapes: A is (M, K), B is (K, N), C is (M, N), in device memory. Strides are in elements, and not
///         negative; exchanged, they stand for a transposed matrix. Elements of C lie apart from one another
///         and from A and B; what lies between them stays as it is. K = 0 makes C zero. An empty C launches
///         nothing.
/// Launch: one kernel. Returns once it has been accepted.
/// Error:  at most twice that of a float32 sum in the order of k. NaN and infinities follow IEEE 754. The
///         same input gives the same bits every time, whatever `stages` is.
/// Cost:   with T = kProductTile, reads 4 * (M * K * ⌈N/T⌉ + K * N * ⌈M/T⌉) bytes of A and B or less, in
///         whole sectors where one stride is 1; 16 bytes at a time where A is column-major and M a multiple
///         of 4, or B row-major and N one, and its columns, or rows, begin at multiples of 16 bytes. Nothing
///         passes through registers on the way to shared memory, which has no bank conflicts. One barrier for
///         every kProductDepth steps of k, and at most two more. For every float that a thread reads from
///         shared memory, at least 2 multiply-adds.
/// @throws std::invalid_argument if A, B and C do not fit together, naming the one that does not fit, or if
///         stages is not 2 to kMaxStages.
/// @throws std::runtime_error if CUDA refuses the launch.
void matmul_staged(View<const float, 2> A, View<const float, 2> B, View<float, 2> C, int stages);
// [contract]

}  // namespace course
