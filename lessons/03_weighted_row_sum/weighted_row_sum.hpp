#pragma once
/// @file
/// Contract of lesson 03: the weighted sum of each row of a matrix, twice: with a tree in shared memory, and
/// with shuffles.

#include <cstdint>

namespace course {

// [contract]
inline constexpr int kBlockThreads = 256;                              ///< threads in a block
inline constexpr std::int64_t kMaxRows = (std::int64_t{1} << 31) - 1;  ///< blocks that CUDA allows along x

/// @brief y[i] = Σ_j w[j] · x[i][j], on arrays in device memory.
/// Shapes: x is (rows, cols), row-major: x[i][j] lies at x[i * x_row_stride + j]. w is (cols). y is (rows)
///         and overlaps neither. No rows launch nothing; a row of no columns has the sum 0.
/// Launch: one kernel, with at least one block for every 32 rows; blocks of kBlockThreads threads, one for
///         each row, will do. Returns once the launch has been accepted.
/// Error:  at most twice that of a float32 sum in 32 parts or more, and 2⁻²³ of the largest |y|
///         besides. NaN and infinities follow IEEE 754, also under a weight of 0. The same input gives the
///         same bits every time.
/// Cost:   reads each element of x once and w at most once a row, in whole sectors; writes y once. Threads
///         of a block exchange their sums by shuffles, with at most 2 barriers a row.
/// @throws std::invalid_argument if rows is negative or above kMaxRows, if cols is negative, or if
///         x_row_stride is less than cols.
/// @throws std::runtime_error if CUDA refuses the launch.
void weighted_row_sum(const float* x, std::int64_t x_row_stride, const float* w, float* y, std::int64_t rows,
                      std::int64_t cols);

/// @brief The same, except that threads exchange their sums through shared memory alone, without shuffles:
///         by a tree that has no bank conflicts, with at most 9 barriers a row.
void weighted_row_sum_tree(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                           std::int64_t rows, std::int64_t cols);
// [contract]

}  // namespace course
