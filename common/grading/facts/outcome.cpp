#include "grading/facts/outcome.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace course::grading {
namespace {

void add_line(std::string& text, const std::string& line) {
  if (line.empty()) return;
  if (!text.empty()) text += '\n';
  text += line;
}

std::string leak_sentence(const Outcome& outcome) {
  if (outcome.leak_count == 0) return {};
  const bool one = outcome.leak_count == 1;
  std::string place;
  if (!outcome.leaks.empty() && !outcome.leaks.front().file.empty())
    place = fmt::format("; {} made at {}:{}", one ? "it is" : "the first is",
                        std::filesystem::path(outcome.leaks.front().file).filename().string(),
                        outcome.leaks.front().line);
  return fmt::format(
      "{} device allocation{} ({} bytes) {} never freed{}. Call cudaFree for every cudaMalloc, also where "
      "the function leaves early.",
      outcome.leak_count, one ? "" : "s", outcome.leak_bytes, one ? "is" : "are", place);
}

}  // namespace

std::string side_effects(const Outcome& outcome) {
  std::string text;
  for (const std::string& violation : outcome.violations) add_line(text, violation);
  add_line(text, leak_sentence(outcome));
  return text;
}

std::string why_not_returned(const Outcome& outcome) {
  return outcome.message.empty() ? fmt::format("The call ended with: {}.", to_string(outcome.status))
                                 : outcome.message;
}

std::string why_not_clean(const Outcome& outcome) {
  std::string text;
  if (outcome.status != Status::returned) text = why_not_returned(outcome);
  add_line(text, side_effects(outcome));
  return text;
}

}  // namespace course::grading
