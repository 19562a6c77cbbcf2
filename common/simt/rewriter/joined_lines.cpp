#include "simt/rewriter/joined_lines.hpp"

#include <algorithm>
#include <cctype>

namespace simt::rewriter {
namespace {

/// What compilers skip within a line, and more: all characters of control.
bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' ' && c != '\n'; }

/// The length of a backslash-newline at `at`, as g++ takes one and no other; else 0.
std::size_t joint_length(std::string_view source, std::size_t at) {
  if (source[at] != '\\') return 0;
  constexpr std::string_view kBetween(" \t\f\v\0", 5);
  const std::string_view behind =
      source.substr(std::min(source.find_first_not_of(kBetween, at + 1), source.size()));
  const std::size_t newline = behind.starts_with("\r\n") ? 2 : behind.starts_with('\n') ? 1 : 0;
  return newline == 0 ? 0 : source.size() - behind.size() + newline - at;
}

/// Whether a directive may begin there: behind nothing but blanks, or a comment's end.
bool begins_line(std::string_view text, std::size_t at) {
  while (at > 0 && is_blank(text[at - 1])) --at;
  return at == 0 || text[at - 1] == '\n' || text.substr(0, at).ends_with("*/");
}

}  // namespace

JoinedLines::JoinedLines(std::string_view source) {
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

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

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

std::vector<DirectivePlace> find_directives(std::string_view text) {
  std::vector<DirectivePlace> found;
  for (std::size_t at = text.find_first_of("#%"); at < text.size(); at = text.find_first_of("#%", at + 1)) {
    const std::size_t length = text[at] == '#' ? 1 : text.substr(at).starts_with("%:") ? 2 : 0;
    if (length != 0 && begins_line(text, at)) found.push_back({at, past_blanks(text, at + length)});
  }
  return found;
}

}  // namespace simt::rewriter
