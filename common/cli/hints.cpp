#include "cli/hints.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "grading/base/subprocess.hpp"

namespace course::cli {
namespace {

constexpr std::string_view kUntil = "<!-- until: ", kUntilEnd = " -->";

/// "The index" of "## 2. The index".
std::string title_of(const std::string& heading, std::size_t number) {
  const std::string opening = fmt::format("## {}. ", number);
  if (!heading.starts_with(opening) || heading.size() == opening.size())
    throw std::runtime_error(
        fmt::format("the heading \"{}\" should be \"{}\" and a title", heading, opening));
  return heading.substr(opening.size());
}

/// Without empty lines at both ends; the first line keeps its indentation.
std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \n");
  if (first == std::string::npos) return "";
  const std::size_t line_begin = text.rfind('\n', first);
  const std::size_t begin = line_begin == std::string::npos ? 0 : line_begin + 1;
  return text.substr(begin, text.find_last_not_of(" \n") + 1 - begin) + "\n";
}

}  // namespace

std::vector<Hint> parse_hints(std::string_view markdown) {
  std::vector<Hint> hints;
  bool in_code = false;
  std::istringstream lines{std::string(markdown)};
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.starts_with("```")) in_code = !in_code;
    if (!in_code && line.starts_with("## ")) {
      hints.push_back({title_of(line, hints.size() + 1), ""});
    } else if (!hints.empty() && line.starts_with(kUntil) && line.ends_with(kUntilEnd)) {
      hints.back().until = line.substr(kUntil.size(), line.size() - kUntil.size() - kUntilEnd.size());
    } else if (!hints.empty()) {
      hints.back().text += line + "\n";
    }
  }
  if (hints.empty()) throw std::runtime_error("there is no heading \"## 1. ...\", so that there is no hint");
  for (Hint& hint : hints) {
    hint.text = trimmed(hint.text);
    if (hint.text.empty()) throw std::runtime_error(fmt::format("the hint \"{}\" is empty", hint.title));
  }
  return hints;
}

std::vector<Hint> read_hints(const grading::Lesson& lesson) {
  const std::filesystem::path file = lesson.folder() / "hints.md";
  try {
    return parse_hints(grading::read_file(file));
  } catch (const std::exception& error) {
    throw std::runtime_error(
        fmt::format("{}: {}.", file.lexically_relative(lesson.root).string(), error.what()));
  }
}

bool is_behind(const Hint& hint, const Standing& standing) {
  const LessonProgress& record = standing.record;
  if (hint.until.empty() || record.cases == 0 || standing.edited_since) return false;
  return std::none_of(record.failing.begin(), record.failing.end(),
                      [&](const std::string& name) { return name.find(hint.until) != std::string::npos; });
}

}  // namespace course::cli
