#pragma once
/// @file
/// What the mistakes of lesson 02 have in common.

#include <cstdint>

#include "grading/testing/mistakes.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_02 {

/// The elements of a matrix as they come out if row r begins r * row_stride elements into its memory, and
/// column c lies c * col_stride further. NaN where that is past its end.
Tensor<double> read_with_strides(const Tensor<float>& x, const Shape& shape, std::int64_t row_stride,
                                 std::int64_t col_stride);

/// Whether dst, which has these strides, holds what a kernel writes that takes `used` for them. Elements may
/// get several numbers, of which any may stay.
bool written_with_strides(const Tensor<float>& dst, const Strides& strides, const Tensor<float>& src,
                          const Strides& used);

/// Mistakes that leave elements out, of a matrix with these rows and columns. Tile numbers are those of dst
/// or out.
grading::Mistakes elements_left_out(std::int64_t rows, std::int64_t cols);

}  // namespace course::lesson_02
