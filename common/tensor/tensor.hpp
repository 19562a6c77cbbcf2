#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/layout.hpp"

namespace course {

/// @brief An array in host memory that owns its elements, of any rank and with any strides.
///
/// The storage may be larger than the number of elements: rows that are further apart than they are long
/// leave gaps between them, which belong to the storage but to no index. "Linear" indices count the elements
/// in row-major order of their index, whatever the strides. A moved-from tensor may only be assigned to or
/// destroyed.
template <class T>
class Tensor {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>,
                "tensors are copied to and from devices byte by byte");

 public:
  using value_type = T;

  /// An empty tensor of shape (0).
  Tensor() : Tensor(Shape{0}) {}

  /// @brief A contiguous row-major tensor that holds `fill` everywhere.
  /// @throws std::invalid_argument if an axis is negative or the size does not fit an address space.
  explicit Tensor(Shape shape, T fill = T{}) : shape_(std::move(shape)), strides_(row_major_strides(shape_)) {
    allocate(fill);
  }

  /// @brief A strided tensor whose elements and gaps all hold `fill`.
  /// @throws std::invalid_argument if the strides are not legal for the shape; see storage_size().
  Tensor(Shape shape, Strides strides, T fill) : shape_(std::move(shape)), strides_(std::move(strides)) {
    allocate(fill);
  }

  /// @brief A contiguous tensor of the given values, in row-major order.
  /// @throws std::invalid_argument unless there is exactly one value an element.
  static Tensor from(Shape shape, std::vector<T> values) {
    if (element_count(shape) != static_cast<std::int64_t>(values.size())) {
      detail::throw_wrong_value_count(values.size(), shape);
    }
    Tensor result;
    result.shape_ = std::move(shape);
    result.strides_ = row_major_strides(result.shape_);
    result.numel_ = static_cast<std::int64_t>(values.size());
    result.storage_ = std::move(values);
    return result;
  }

  const Shape& shape() const { return shape_; }
  const Strides& strides() const { return strides_; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape_.size()); }
  std::int64_t numel() const { return numel_; }

  /// @brief The element at an index, one number an axis; none for a scalar.
  /// @throws std::out_of_range, naming index and shape, if an index lies outside its axis.
  /// @throws std::invalid_argument if the number of indices is not the rank.
  template <std::integral... I>
  T& operator()(I... index) {
    return element(offset_at(std::array<std::int64_t, sizeof...(I)>{static_cast<std::int64_t>(index)...}));
  }
  template <std::integral... I>
  const T& operator()(I... index) const {
    return element(offset_at(std::array<std::int64_t, sizeof...(I)>{static_cast<std::int64_t>(index)...}));
  }

  /// @brief Where in the storage the element at an index lies. Throws as operator() does.
  std::int64_t offset_at(std::span<const std::int64_t> index) const {
    if (index.size() != shape_.size()) detail::throw_wrong_index_count(index.size(), shape_);
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      if (index[axis] < 0 || index[axis] >= shape_[axis]) detail::throw_out_of_range(index, shape_);
      offset += index[axis] * strides_[axis];
    }
    return offset;
  }

  /// @brief Where in the storage the element with a linear index lies.
  /// @throws std::out_of_range unless 0 <= linear < numel().
  std::int64_t offset_of(std::int64_t linear) const {
    if (linear < 0 || linear >= numel_) detail::throw_linear_out_of_range(linear, shape_);
    if (contiguous_) return linear;
    std::int64_t offset = 0;
    for (std::size_t axis = shape_.size(); axis-- > 0; linear /= shape_[axis]) {
      offset += linear % shape_[axis] * strides_[axis];
    }
    return offset;
  }

  /// @brief The element with a linear index. @throws std::out_of_range unless 0 <= linear < numel().
  T& at_linear(std::int64_t linear) { return element(offset_of(linear)); }
  const T& at_linear(std::int64_t linear) const { return element(offset_of(linear)); }

  /// @brief The index, one number an axis, of a linear index.
  /// @throws std::out_of_range unless 0 <= linear < numel().
  std::vector<std::int64_t> unravel(std::int64_t linear) const {
    if (linear < 0 || linear >= numel_) detail::throw_linear_out_of_range(linear, shape_);
    std::vector<std::int64_t> index(shape_.size());
    for (std::size_t axis = shape_.size(); axis-- > 0; linear /= shape_[axis]) {
      index[axis] = linear % shape_[axis];
    }
    return index;
  }

  /// Everything that is stored, gaps included, in storage order.
  std::span<T> storage() { return storage_; }
  std::span<const T> storage() const { return storage_; }

  /// The first stored element, which is element (0, 0, ...) if there is one.
  T* data() { return storage_.data(); }
  const T* data() const { return storage_.data(); }

  /// Whether the storage is exactly the elements in row-major order.
  bool is_contiguous() const { return contiguous_; }

  /// @brief The tensor with two axes exchanged: same storage in the same order, only the strides change
  /// places.
  /// @throws std::invalid_argument unless both axes are in [0, rank).
  Tensor transposed(std::int64_t axis_a, std::int64_t axis_b) const {
    for (const std::int64_t axis : {axis_a, axis_b}) {
      if (axis < 0 || axis >= rank()) detail::throw_wrong_axis(axis, shape_);
    }
    Tensor result = *this;
    std::swap(result.shape_[static_cast<std::size_t>(axis_a)],
              result.shape_[static_cast<std::size_t>(axis_b)]);
    std::swap(result.strides_[static_cast<std::size_t>(axis_a)],
              result.strides_[static_cast<std::size_t>(axis_b)]);
    result.contiguous_ = is_row_major(result.shape_, result.strides_);
    return result;
  }

  /// A row-major copy without gaps.
  Tensor contiguous() const {
    Tensor result(shape_);
    if (contiguous_) {
      std::copy(storage_.begin(), storage_.end(), result.storage_.begin());
      return result;
    }
    // Counts the index up like an odometer: a division an element would dominate the copy.
    std::vector<std::int64_t> index(shape_.size(), 0);
    std::int64_t offset = 0;
    for (T& value : result.storage_) {
      value = element(offset);
      for (std::size_t axis = shape_.size(); axis-- > 0;) {
        offset += strides_[axis];
        if (++index[axis] < shape_[axis]) break;
        offset -= shape_[axis] * strides_[axis];
        index[axis] = 0;
      }
    }
    return result;
  }

  /// @brief A copy with every stored value, gaps included, converted to U; same shape and strides.
  /// Values must be representable in U: a NaN has no integer.
  template <class U>
  Tensor<U> to() const {
    Tensor<U> result(shape_, strides_, U{});
    std::transform(storage_.begin(), storage_.end(), result.data(),
                   [](const T& value) { return static_cast<U>(value); });
    return result;
  }

 private:
  void allocate(T fill) {
    const auto size =
        static_cast<std::size_t>(storage_size(shape_, strides_));  // throws unless both are legal
    numel_ = element_count(shape_);
    contiguous_ = is_row_major(shape_, strides_);
    if (size > storage_.max_size()) detail::throw_too_large(shape_, strides_);
    storage_.assign(size, fill);
  }

  T& element(std::int64_t offset) { return storage_[static_cast<std::size_t>(offset)]; }
  const T& element(std::int64_t offset) const { return storage_[static_cast<std::size_t>(offset)]; }

  Shape shape_;
  Strides strides_;
  std::int64_t numel_ = 0;
  bool contiguous_ = true;
  std::vector<T> storage_;
};

}  // namespace course
