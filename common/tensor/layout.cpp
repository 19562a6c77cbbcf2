#include "tensor/layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "tensor/format.hpp"

namespace course {
namespace {

std::string with_strides(const Shape& shape, const Strides& strides) {
  return "shape " + format_shape(shape) + " with strides " + format_shape(strides);
}

}  // namespace

std::int64_t element_count(const Shape& shape) {
  std::int64_t product = 1;  // of the axes that are not empty: strides must not overflow either
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) {
      throw std::invalid_argument("The shape " + format_shape(shape) +
                                  " has a negative axis; an axis has 0 or more elements.");
    }
    if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, size, &product)) {
      throw std::invalid_argument("The shape " + format_shape(shape) + " has more than 2^63 - 1 elements.");
    }
  }
  return empty ? 0 : product;
}

Strides row_major_strides(const Shape& shape) {
  element_count(shape);  // throws where the products below would overflow
  Strides strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  return strides;
}

std::int64_t storage_size(const Shape& shape, const Strides& strides) {
  const std::int64_t elements = element_count(shape);
  if (strides.size() != shape.size()) {
    throw std::invalid_argument("A tensor needs one stride for each axis, but got " +
                                with_strides(shape, strides) + ".");
  }
  if (std::any_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride < 0; })) {
    throw std::invalid_argument("A stride must not be negative, but got " + with_strides(shape, strides) +
                                ".");
  }
  if (elements == 0) return 0;

  std::vector<std::size_t> axes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] > 1) axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });

  std::int64_t extent = 1;  // stored elements that the axes so far span
  for (const std::size_t axis : axes) {
    if (strides[axis] < extent) {
      throw std::invalid_argument("Different indices would share an element in " +
                                  with_strides(shape, strides) + ": the stride of axis " +
                                  std::to_string(axis) + " must be at least " + std::to_string(extent) + ".");
    }
    std::int64_t step = 0;
    if (__builtin_mul_overflow(shape[axis] - 1, strides[axis], &step) ||
        __builtin_add_overflow(extent, step, &extent)) {
      detail::throw_too_large(shape, strides);
    }
  }
  return extent;
}

bool is_row_major(const Shape& shape, const Strides& strides) {
  std::int64_t step = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] == 0) return true;
    if (shape[axis] > 1 && strides[axis] != step) return false;
    step *= shape[axis];
  }
  return true;
}

namespace detail {

void throw_out_of_range(std::span<const std::int64_t> index, const Shape& shape) {
  throw std::out_of_range("The index " + format_index(index) + " lies outside a tensor of shape " +
                          format_shape(shape) + ".");
}

void throw_linear_out_of_range(std::int64_t linear, const Shape& shape) {
  throw std::out_of_range("The linear index " + std::to_string(linear) + " lies outside a tensor of shape " +
                          format_shape(shape) + ", which has " + std::to_string(element_count(shape)) +
                          " elements.");
}

void throw_wrong_index_count(std::size_t count, const Shape& shape) {
  throw std::invalid_argument("A tensor of shape " + format_shape(shape) + " takes " +
                              std::to_string(shape.size()) + " indices, but got " + std::to_string(count) +
                              ".");
}

void throw_wrong_value_count(std::size_t count, const Shape& shape) {
  throw std::invalid_argument("A tensor of shape " + format_shape(shape) + " has " +
                              std::to_string(element_count(shape)) + " elements, but got " +
                              std::to_string(count) + " values.");
}

void throw_wrong_axis(std::int64_t axis, const Shape& shape) {
  throw std::invalid_argument("A tensor of shape " + format_shape(shape) + " has " +
                              std::to_string(shape.size()) + " axes, counted from 0; there is no axis " +
                              std::to_string(axis) + ".");
}

void throw_too_large(const Shape& shape, const Strides& strides) {
  throw std::invalid_argument("A tensor of " + with_strides(shape, strides) +
                              " is larger than any memory can be.");
}

}  // namespace detail
}  // namespace course
