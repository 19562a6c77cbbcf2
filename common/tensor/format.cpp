#include "tensor/format.hpp"

namespace course {
namespace {

std::string joined(char open, std::span<const std::int64_t> values, char close) {
  std::string text(1, open);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(values[i]);
  }
  text += close;
  return text;
}

}  // namespace

std::string format_shape(std::span<const std::int64_t> shape) { return joined('(', shape, ')'); }
std::string format_shape(const std::vector<std::int64_t>& shape) { return joined('(', shape, ')'); }

std::string format_index(std::span<const std::int64_t> index) { return joined('[', index, ']'); }
std::string format_index(const std::vector<std::int64_t>& index) { return joined('[', index, ']'); }

}  // namespace course
