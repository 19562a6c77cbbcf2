#include "grading/facts/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <stdexcept>

#include "grading/base/messages.hpp"

namespace course::grading {
namespace {

constexpr std::string_view kStatuses[] = {"returned", "threw", "cuda_error", "fault",
                                          "timeout",  "died",  "refused",    "differed"};

}  // namespace

std::string_view to_string(Status status) { return kStatuses[static_cast<std::size_t>(status)]; }

Status status_of(std::string_view name) {
  const auto* found = std::find(std::begin(kStatuses), std::end(kStatuses), name);
  if (found == std::end(kStatuses)) throw std::invalid_argument("not a status: " + std::string(name));
  return static_cast<Status>(found - std::begin(kStatuses));
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

std::string side_effects(const Outcome& outcome) {
  std::string text;
  for (const Violation& violation : outcome.violations) add_line(text, violation.sentence);
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
