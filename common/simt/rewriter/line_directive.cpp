#include "simt/rewriter/line_directive.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace simt::rewriter {
namespace {

constexpr std::string_view kDigits = "0123456789";

/// What compilers skip within a line, and more: all characters of control.
bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' ' && c != '\n'; }

bool is_part_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The length of a backslash-newline at `at`, as g++ takes one and no other; else 0.
std::size_t joint_length(std::string_view source, std::size_t at) {
  if (source[at] != '\\') return 0;
  constexpr std::string_view kBetween(" \t\f\v\0", 5);
  const std::string_view behind =
      source.substr(std::min(source.find_first_not_of(kBetween, at + 1), source.size()));
  const std::size_t newline = behind.starts_with("\r\n") ? 2 : behind.starts_with('\n') ? 1 : 0;
  return newline == 0 ? 0 : source.size() - behind.size() + newline - at;
}

/// A source without its backslash-newlines, and where each character came from.
struct Joined {
  std::string text;
  std::vector<std::size_t> places;

  explicit Joined(std::string_view source) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    for (std::size_t i = source.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0; i < source.size();) {
      const std::size_t length = joint_length(source, i);
      if (length == 0) {
        text += source[i];
        places.push_back(i);
      }
      i += length != 0 ? length : 1;
    }
  }
};

/// The first position from `at` on that is neither a blank nor in a comment.
std::size_t past_blanks(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (is_blank(text[at])) {
      ++at;
    } else if (text.substr(at).starts_with("/*")) {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

/// Whether a directive may begin there: behind nothing but blanks, or a comment's end.
bool begins_line(std::string_view text, std::size_t at) {
  while (at > 0 && is_blank(text[at - 1])) --at;
  return at == 0 || text[at - 1] == '\n' || text.substr(0, at).ends_with("*/");
}

/// Whether `line`, or a number and a file's name, comes next.
bool names_line(std::string_view text) {
  constexpr std::string_view kName = "line";
  if (text.starts_with(kName)) return text.size() == kName.size() || !is_part_of_name(text[kName.size()]);
  const std::size_t end = std::min(text.find_first_not_of(kDigits), text.size());
  const std::string_view behind = text.substr(past_blanks(text, end));
  return end > 0 && (behind.starts_with('"') || behind.starts_with("R\""));
}

}  // namespace

std::size_t find_line_directive(std::string_view source) {
  const Joined joined(source);
  const std::string_view text = joined.text;
  for (std::size_t at = text.find_first_of("#%"); at < text.size(); at = text.find_first_of("#%", at + 1)) {
    const std::size_t length = text[at] == '#' ? 1 : text.substr(at).starts_with("%:") ? 2 : 0;
    if (length != 0 && begins_line(text, at) && names_line(text.substr(past_blanks(text, at + length))))
      return joined.places[at];
  }
  return std::string_view::npos;
}

}  // namespace simt::rewriter
