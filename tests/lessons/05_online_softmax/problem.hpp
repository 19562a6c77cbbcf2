#pragma once
/// @file
/// Problems of lesson 05.

#include <cstdint>
#include <limits>
#include <vector>

#include "tensor/tensor.hpp"

namespace course::lesson_05 {

using Col = std::int64_t;
inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr std::int64_t kWarp = 32;

/// What one call is given: x (rows, cols), with a row stride of its own.
struct Problem {
  Tensor<float> x;
  bool tells_guards =
      false;  ///< made by minus_inf_problem(): which rows are NaN tells which guard is missing

  std::int64_t rows() const { return x.shape()[0]; }
  std::int64_t cols() const { return x.shape()[1]; }
  std::int64_t x_row_stride() const { return x.strides()[0]; }
};

Tensor<float> with_row_stride(const Tensor<float>& dense, std::int64_t row_stride, float gap = 1000.0f);

Problem random_problem(std::int64_t rows, std::int64_t cols, std::int64_t x_row_stride);

/// Rows of -inf but for the columns 0, 1024, 2048, ...: one thread folds them all, whether 32 threads or 1024
/// share a row.
Problem problem_of_one_thread(const std::vector<std::vector<float>>& rows);

/// Rows of -inf but for two columns of thread 0, which hold `mine`, and one of another thread, `theirs`.
Problem problem_of_two_threads(std::int64_t their_col);

}  // namespace course::lesson_05
