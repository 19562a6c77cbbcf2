#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace course {

/// @brief A shape as people write it: "(2, 3)", "(1000)", and "()" for a scalar.
std::string format_shape(std::span<const std::int64_t> shape);
std::string format_shape(const std::vector<std::int64_t>& shape);  // so that format_shape({2, 3}) compiles

/// @brief An index as it follows a tensor's name: "[2, 3]", "[1000]", and "[]" for a scalar.
std::string format_index(std::span<const std::int64_t> index);
std::string format_index(const std::vector<std::int64_t>& index);  // so that format_index({2, 3}) compiles

}  // namespace course
