#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace course {

using Shape = std::vector<std::int64_t>;    // elements along each axis; {} is a scalar
using Strides = std::vector<std::int64_t>;  // elements between neighbours along each axis

/// @brief The number of elements of a shape: the product of its axes, 1 for a scalar.
/// @throws std::invalid_argument if an axis is negative or the product exceeds 2^63 - 1.
std::int64_t element_count(const Shape& shape);

/// @brief Strides of an array without gaps whose last axis is adjacent in memory (C order).
Strides row_major_strides(const Shape& shape);

/// @brief The number of stored elements that a strided array spans, gaps included; 0 if it has no elements.
/// @throws std::invalid_argument unless there is one stride an axis, none is negative, and walking the axes
/// from the smallest stride to the largest, each one steps past everything below it (so that no two indices
/// share an element). Strides of axes with at most one element are never used and may be anything that is not
/// negative.
std::int64_t storage_size(const Shape& shape, const Strides& strides);

/// @brief Whether row-major order and storage order are the same and there are no gaps.
/// Shape and strides must be legal; see storage_size().
bool is_row_major(const Shape& shape, const Strides& strides);

namespace detail {

[[noreturn]] void throw_out_of_range(std::span<const std::int64_t> index, const Shape& shape);
[[noreturn]] void throw_linear_out_of_range(std::int64_t linear, const Shape& shape);
[[noreturn]] void throw_wrong_index_count(std::size_t count, const Shape& shape);
[[noreturn]] void throw_wrong_value_count(std::size_t count, const Shape& shape);
[[noreturn]] void throw_wrong_axis(std::int64_t axis, const Shape& shape);
[[noreturn]] void throw_too_large(const Shape& shape, const Strides& strides);

}  // namespace detail
}  // namespace course
