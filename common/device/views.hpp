#pragma once
/// @file
/// Views of matrices and tensors: what entries ask of them, on the host, and the transpose.

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "tensor/view.hpp"

namespace course::device {

/// The same elements with the axes exchanged: what is (rows, cols) becomes (cols, rows), and nothing moves.
template <class T>
__host__ __device__ View<T, 2> transposed(const View<T, 2>& X) {
  return {X.data, {X.shape[1], X.shape[0]}, {X.strides[1], X.strides[0]}};
}

template <int kRank>
std::string text_of_shape(const std::int64_t (&shape)[kRank]) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "(" : ", ") + std::to_string(size);
  return text + ")";
}

/// @throws std::invalid_argument, naming the argument, unless X has that shape.
template <class T, int kRank>
void require_shape(const char* name, const View<T, kRank>& X, const std::int64_t (&wanted)[kRank]) {
  for (int axis = 0; axis < kRank; ++axis) {
    if (X.shape[axis] == wanted[axis]) continue;
    throw std::invalid_argument(std::string(name) + " must have the shape " + text_of_shape(wanted) +
                                ", but it has " + text_of_shape(X.shape) + ".");
  }
}

/// Whether X is made of lines along that axis, of whole chunks of 16 bytes, 8 numbers of 16 bits each.
template <class T>
bool has_chunks_along(const View<T, 2>& X, int axis) {
  static_assert(sizeof(T) == 2, "a chunk has 8 numbers of 16 bits");
  return X.strides[axis] == 1 && X.shape[axis] % 8 == 0 && X.strides[1 - axis] % 8 == 0;
}

/// @throws std::invalid_argument, naming the argument, unless X begins at a multiple of 16 bytes and is made
/// of chunks along one axis or the other.
template <class T>
void require_chunks(const char* name, const View<T, 2>& X) {
  if (!has_chunks_along(X, 0) && !has_chunks_along(X, 1))
    throw std::invalid_argument(std::string(name) +
                                " must have an axis with stride 1 and a multiple of 8 numbers, and a "
                                "multiple of 8 as the stride of the other axis, but its shape is " +
                                text_of_shape(X.shape) + " and its strides are " + text_of_shape(X.strides) +
                                ".");
  const auto past = reinterpret_cast<std::uintptr_t>(X.data) % 16;
  if (past != 0)
    throw std::invalid_argument(std::string(name) + " must begin at a multiple of 16 bytes, but it begins " +
                                std::to_string(past) + " bytes past one.");
}
/// @brief The same, along that axis.
template <class T>
void require_chunks_along(const char* name, const View<T, 2>& X, int axis) {
  require_chunks(name, X);
  if (!has_chunks_along(X, axis))
    throw std::invalid_argument(std::string(name) + " must have the stride 1 along its " +
                                (axis == 0 ? "columns" : "rows") + ", but its strides are " +
                                text_of_shape(X.strides) + ".");
}

}  // namespace course::device
