#pragma once
/// @file
/// Sizes, strides and numbers of which no kernel knows beforehand what they are.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace course::drawn {

/// From 1 to `most`, as many below its root as above.
std::int64_t length(Random& random, std::int64_t most);

/// Between 2^-most_log2 and 2^most_log2, of either sign: numbers of a case are not always of one size.
float factor(Random& random, int most_log2 = 8);
/// All that is stored, times a number.
Tensor<float> times(Tensor<float> x, float number);

/// @brief Shapes other than `fits`: along each of these axes longer, and shorter, perhaps by all of it; and
/// with one of them exchanged with another axis, so that there are as many elements as before. Along the last
/// axis, it is by multiples of `step`.
std::vector<Shape> misfits(const Shape& fits, const std::vector<std::size_t>& axes, Random& random,
                           std::int64_t step = 1);
/// The same, along all axes.
std::vector<Shape> misfits(const Shape& fits, Random& random, std::int64_t step = 1);

/// Of a matrix whose rows lie side by side, whose columns do, or neither, with up to 9 numbers from one
/// element to the next; with gaps, or without.
Strides strides(std::int64_t rows, std::int64_t cols, Random& random);

/// Close together or with a gap; or `far`: twice as far at least.
std::int64_t row_stride(std::int64_t cols, Random& random, bool far = false);

/// Of a thousand rows and more: 33 to 160 columns, in half of the cases a multiple of 4 above 128.
std::int64_t few_columns(Random& random);
/// After each of these: 1 to 9 numbers, in half of the cases a multiple of 4.
std::int64_t few_between(Random& random);

/// @brief Gaps behind the rows of so many arrays: an odd one in each array in turn, with multiples of 4 in
/// the others; then multiples of 4 in all. Who copies four numbers at a time has to ask each array where its
/// rows begin.
std::vector<std::vector<std::int64_t>> gaps_around_fours(std::size_t arrays, Random& random);

/// @brief So many rows that a launch like this one has 65,536 blocks or a few more: a grid may have that many
/// along x, but 65,535 along y and z.
std::int64_t rows_of_65536_blocks(std::int64_t rows, std::int64_t blocks, Random& random);

/// @brief Rows of numbers from -4 to 4, of which one rises or falls by 200, one lies at 10,000 or -10,000,
/// one holds NaN, one infinities, one is -inf but for a few numbers and one throughout; as many as there are
/// rows, in any order.
Tensor<float> rows(std::int64_t rows, std::int64_t cols, Random& random);

/// Every element is NaN with bits of its own: of both signs, quiet and signalling.
Tensor<float> nans_of_all_kinds(const Shape& shape);

}  // namespace course::drawn
