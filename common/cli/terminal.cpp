#include "cli/terminal.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

namespace course::cli {
namespace {

constexpr std::size_t kLongestLine = 80, kShortestLine = 40;

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

std::size_t terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kLongestLine;
  return std::clamp<std::size_t>(size.ws_col, kShortestLine, kLongestLine);
}

/// Whether the byte is not the first of its character in UTF-8.
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

/// The first character of UTF-8 text.
char32_t code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  char32_t point = lead < 0x80 ? lead : lead < 0xe0 ? lead & 0x1f : lead < 0xf0 ? lead & 0x0f : lead & 0x07;
  for (std::size_t at = 1; at < text.size() && continues(text[at]); ++at)
    point = point << 6 | (static_cast<unsigned char>(text[at]) & 0x3f);
  return point;
}

/// Whether terminals give the character two columns: most of East Asia's, and pictures.
bool is_wide(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xac00, 0xd7a3},
                             {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6},
                             {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
  return std::any_of(std::begin(kWide), std::end(kWide),
                     [c](const Range& range) { return c >= range.first && c <= range.last; });
}

/// The first `columns` columns of the text.
std::string_view head(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    std::size_t next = bytes + 1;
    while (next < text.size() && continues(text[next])) ++next;
    if (columns_of(text.substr(0, next)) > columns) break;
    bytes = next;
  }
  return text.substr(0, bytes);
}

/// Wraps one line that is not code.
void wrap_line(std::string_view line, std::size_t indent, std::size_t width, std::string& result) {
  const std::size_t room = width - indent;
  std::istringstream words{std::string(line)};
  std::string current;
  const auto emit = [&](std::string_view text) { result += std::string(indent, ' ').append(text) + "\n"; };
  for (std::string word; words >> word;) {
    if (!current.empty() && columns_of(current) + 1 + columns_of(word) > room) {
      emit(current);
      current.clear();
    }
    current += (current.empty() ? "" : " ") + word;
    while (columns_of(current) > room) {
      const std::string part(head(current, room));
      emit(part);
      current.erase(0, part.size());
    }
  }
  if (!current.empty()) emit(current);
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (!continues(text[at])) columns += is_wide(code_point(text.substr(at))) ? 2 : 1;
  return columns;
}

std::string wrap(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) {
      const bool fits = columns_of(line) <= width - indent;
      const std::string shown = fits ? line : std::string(head(line, width - indent - 3)) + "...";
      result += std::string(indent, ' ') + shown + "\n";
    } else {
      wrap_line(line, indent, width, result);
    }
  }
  return result;
}

Terminal::Terminal() {
  const char* const kind = std::getenv("TERM");
  const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
  colours_ = isatty(STDOUT_FILENO) != 0 && !is_set("NO_COLOR") && !dumb;
  progress_ = isatty(STDERR_FILENO) != 0 && !dumb;
  if (isatty(STDOUT_FILENO) != 0) width_ = terminal_columns();
}

std::string Terminal::paint(Style style, std::string_view text) const {
  const char* code = "";
  switch (style) {
    case Style::good:
      code = "32";
      break;
    case Style::bad:
      code = "31";
      break;
    case Style::note:
      code = "2";
      break;
    case Style::strong:
      code = "1";
      break;
    case Style::plain:
      break;
  }
  if (!colours_ || *code == '\0') return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

void Terminal::show_progress(std::string_view words, std::size_t done, std::size_t total) const {
  if (listener_) listener_(words, done, total);
  if (!progress_) return;
  constexpr std::size_t kBar = 24;
  std::string line;
  if (total > 0) {
    const std::size_t filled = kBar * std::min(done, total) / total;
    line =
        fmt::format("[{}{}] {}/{} ", std::string(filled, '='), std::string(kBar - filled, ' '), done, total);
  }
  line += words;
  fmt::print(stderr, "\r{}\033[K", head(line, width_ - 1));
  std::fflush(stderr);
  shown_ = true;
}

void Terminal::clear_progress() const {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace course::cli
