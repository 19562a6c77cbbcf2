#include "cli/terminal.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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

/// The first `columns` columns of the text.
std::string_view head(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    std::size_t next = bytes + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80) ++next;
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
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string wrap(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) {
      result += std::string(indent, ' ').append(head(line, width - indent)) + "\n";
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
