#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "grading/facts/poison.hpp"
#include "tensor/float16.hpp"
#include "tensor/tensor.hpp"

namespace course::grading {

enum class Access { in, out, inout };
enum class Place { device, host };
enum class Number { real, bfloat16, float16, integer, other };

/// One array of a call, free of its element type.
struct ArrayArgument {
  std::string name;  ///< what reports call it; may be empty
  Access access = Access::in;
  Place place = Place::device;
  const std::byte* input = nullptr;  ///< the tensor's storage, gaps included
  std::byte* output = nullptr;       ///< the same storage where results go; nullptr for inputs
  std::size_t elements = 0;          ///< of the storage, gaps included
  std::size_t element_bytes = 0;
  Number number =
      Number::other;  ///< what an element is: float or double, one of 16 bits, an integer, or something else
  std::uint64_t poison = 0;  ///< its low element_bytes bytes
  Shape shape;
  Strides strides;
  bool contiguous = true;  ///< no gaps, row-major
};

/// @brief One argument: the parameter's bytes, and the array whose address belongs at their start, if there
/// is one.
struct Argument {
  std::vector<std::byte> bytes;
  std::optional<ArrayArgument> array;
};

namespace detail {

template <class T>
constexpr Number number_of() {
  if (std::is_floating_point_v<T>) return Number::real;
  if (std::is_same_v<T, bfloat16>) return Number::bfloat16;
  if (std::is_same_v<T, float16>) return Number::float16;
  return std::is_integral_v<T> ? Number::integer : Number::other;
}

/// @brief "vector_add" of "course::vector_add".
constexpr std::string_view last_name(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <class T>
ArrayArgument describe(std::string_view name, Access access, Place place, const Tensor<T>& input,
                       Tensor<T>* output) {
  ArrayArgument array;
  array.name = name;
  array.access = access;
  array.place = place;
  array.input = reinterpret_cast<const std::byte*>(input.storage().data());
  array.output = output ? reinterpret_cast<std::byte*>(output->storage().data()) : nullptr;
  array.elements = input.storage().size();
  array.element_bytes = sizeof(T);
  array.number = number_of<T>();
  const T poisoned = poison<T>();
  std::memcpy(&array.poison, &poisoned, sizeof(T));
  array.shape = input.shape();
  array.strides = input.strides();
  array.contiguous =
      input.is_contiguous() && input.storage().size() == static_cast<std::size_t>(input.numel());
  return array;
}

}  // namespace detail
}  // namespace course::grading
