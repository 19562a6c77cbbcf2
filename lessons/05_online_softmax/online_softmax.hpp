#pragma once
/// @file
/// Contract of lesson 05: softmax of each row of a matrix that is read twice, and the statistics that it
/// needs.

#include <cstdint>

namespace course {

// [contract]
inline constexpr std::int64_t kMaxRows = (std::int64_t{1} << 31) - 1;  ///< blocks that CUDA allows along x

/// @brief max[i] = m_i = max_j x[i][j] and sum[i] = l_i = Σ_j exp(x[i][j] - m_i), on arrays in device memory.
/// Shapes: x is (rows, cols), row-major: x[i][j] lies at x[i * x_row_stride + j]. max and sum are (rows).
///         No arrays overlap. No rows launch nothing.
/// Domain: natural exponential. A row of no columns, or of only -inf, has the maximum -inf and the sum 0.
///         With a NaN or +inf in the row its sum is NaN, and its maximum means nothing.
/// Launch: one kernel, with at least one block for every 32 rows. Returns once the launch has been accepted.
/// Error:  maxima are exact; sums, at most twice that of a float32 computation in 32 parts. The same input
///         gives the same bits every time.
/// Cost:   reads each element of x once, in whole sectors; writes max and sum once. At most 2 barriers a row.
/// Source: Milakov & Gimelshein 2018 (arXiv:1805.02867), Algorithm 3, lines 1 to 6.
/// @throws std::invalid_argument if rows is negative or above kMaxRows, if cols is negative, or if a row
///         stride is less than cols.
/// @throws std::runtime_error if CUDA refuses the launch.
void row_stats(const float* x, std::int64_t x_row_stride, float* max, float* sum, std::int64_t rows,
               std::int64_t cols);

/// @brief y = softmax(x) along columns: y[i][j] = exp(x[i][j] - m_i) / l_i, in one kernel.
/// Shapes: x and y are (rows, cols), with row strides of their own. They do not overlap. No rows or no
///         columns launch nothing.
/// Domain: a row of only -inf becomes zeros. A row with a NaN or +inf becomes NaN throughout, and no other.
/// Cost:   reads each element of x twice and writes y once, in whole sectors. At most 2 barriers a row.
/// Source: Algorithm 3. All else, errors included, is as for row_stats.
void online_softmax(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                    std::int64_t rows, std::int64_t cols);
// [contract]

}  // namespace course
