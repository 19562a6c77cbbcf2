#pragma once
/// @file
/// The matrices of lesson 02's tests.

#include <cstdint>
#include <vector>

#include "tensor/tensor.hpp"

namespace course::lesson_02 {

/// Element (r, c) is 1000 r + c, so that a wrong element says where it came from.
Tensor<float> numbered(std::int64_t rows, std::int64_t cols, Strides strides = {});

/// Every element is another number, also in matrices with many rows.
Tensor<float> counted(std::int64_t rows, std::int64_t cols);

/// No kernel knows these numbers beforehand, as it may those of numbered().
Tensor<float> with_random_numbers(const Tensor<float>& like);

/// Rows one after the other, or columns one after the other.
Strides row_major(std::int64_t rows, std::int64_t cols);
Strides column_major(std::int64_t rows, std::int64_t cols);

/// Of matrices in whose transpose accesses count: rows and columns begin with sectors. The cases about
/// sectors and about bank conflicts share all but the last, which no kernel knows beforehand: else a kernel
/// could have a tile for the ones, and none for the others.
std::vector<Shape> counted_shapes();

/// The same for copies. No kernel knows the second beforehand.
std::vector<Shape> counted_shapes_of_copies();

}  // namespace course::lesson_02
