#include "grading/sanitizer/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace course::grading {

std::string SanitizerReport::detail(std::string_view beginning) const {
  const auto found = std::find_if(details.begin(), details.end(),
                                  [&](const std::string& line) { return line.starts_with(beginning); });
  return found == details.end() ? std::string() : found->substr(beginning.size());
}

std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t begin = text.find(before);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + before.size());
  const std::size_t end = text.find(after);
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

std::uint64_t number_of(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  std::string digits(text.substr(hexadecimal ? 2 : 0, text.find(' ')));
  std::erase(digits, ',');
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  return value;
}

simt::FindingSide place_of(std::string_view text) {
  simt::FindingSide side;
  if (text.ends_with(']')) text = text.substr(0, text.rfind(" ["));
  const std::size_t in = text.rfind(" in "), colon = text.rfind(':');
  if (in == std::string_view::npos || colon == std::string_view::npos || colon < in) return side;
  side.file = text.substr(in + 4, colon - in - 4);
  side.line = static_cast<int>(std::min<std::uint64_t>(number_of(text.substr(colon + 1)), 1U << 30));
  return side;
}

bool read_index(std::string_view text, std::string_view before, std::array<unsigned, 3>& index) {
  const std::string inside(between(text, before, ")"));
  return std::sscanf(inside.c_str(), "%u,%u,%u", &index[0], &index[1], &index[2]) == 3;
}

std::string index_text(const std::array<unsigned, 3>& index) {
  return fmt::format("({},{},{})", index[0], index[1], index[2]);
}

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace course::grading
