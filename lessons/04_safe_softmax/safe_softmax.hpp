#pragma once
/// @file
/// Contract of lesson 04: softmax of each row of a matrix, safe from overflow.

#include <cstdint>

namespace course {

// [contract]
inline constexpr int kBlockThreads = 1024;                             ///< threads in a block
inline constexpr std::int64_t kMaxRows = (std::int64_t{1} << 31) - 1;  ///< blocks that CUDA allows along x

/// @brief y = softmax(x) along columns, on arrays in device memory: with m_i = max_j x[i][j],
///         y[i][j] = exp(x[i][j] - m_i) / Σ_k exp(x[i][k] - m_i).
/// Shapes: x and y are (rows, cols), row-major: x[i][j] lies at x[i * x_row_stride + j], y[i][j] at
///         y[i * y_row_stride + j]. They do not overlap. No rows or no columns launch nothing.
/// Domain: natural exponential; any finite x. A row of only -inf becomes zeros. A row with a NaN or +inf
///         becomes NaN throughout, and no other.
/// Launch: one kernel, with at least one block for every 32 rows; blocks of kBlockThreads threads, one for
///         each row, will do. Returns once the launch has been accepted.
/// Error:  at most twice that of a float32 computation that sums in 32 parts. The same input gives the same
///         bits every time.
/// Cost:   reads each element of x at most three times, in whole sectors; writes y once. At most 6 barriers
///         a row.
/// @throws std::invalid_argument if rows is negative or above kMaxRows, if cols is negative, or if a row
///         stride is less than cols.
/// @throws std::runtime_error if CUDA refuses the launch.
void safe_softmax(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                  std::int64_t rows, std::int64_t cols);
// [contract]

}  // namespace course
