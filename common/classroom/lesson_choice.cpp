#include "classroom/lesson_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "classroom/file_names.hpp"
#include "grading/base/sha256.hpp"

namespace course::classroom {
namespace {

using grading::Lesson;

/// Why the first counts and the second does not.
std::string reason(const Candidate& best, const Candidate& second) {
  const auto is_file = [](const Candidate& c) { return c.problem.empty() || c.unreadable; };
  if (is_file(best) != is_file(second)) return "the one that can be read counts";
  if (best.modified != second.modified) return "the newest counts";
  if (best.version != second.version)
    return "the one with the highest version counts, as their times are equal";
  return "the first by name counts, as their times are equal";
}

bool is_late(const Candidate& candidate, std::optional<std::int64_t> deadline) {
  return candidate.late || (deadline && candidate.modified > *deadline);
}

}  // namespace

bool LessonChoice::counts_before(const Entry& a, const Entry& b) {
  // What this machine cannot read may be what the student wants to count.
  const auto rank = [](const Candidate& c) {
    return std::tuple(c.problem.empty() || c.unreadable, c.modified, c.version);
  };
  const auto a_rank = rank(a.candidate), b_rank = rank(b.candidate);
  return a_rank != b_rank ? a_rank > b_rank : a.candidate.path < b.candidate.path;
}

void LessonChoice::add(Candidate candidate, std::string content) {
  Entry entry{std::move(candidate), ""};
  if (entry.candidate.problem.empty()) entry.digest = grading::sha256_hex(content);
  entries_.push_back(std::move(entry));
  const bool first = entries_.size() == 1;
  if (!first && !counts_before(entries_.back(), entries_[best_])) return;
  best_ = entries_.size() - 1;
  content_ = entries_.back().candidate.problem.empty() ? std::move(content) : std::string();
}

std::string LessonChoice::note(const Lesson& lesson, const std::vector<const Entry*>& same,
                               const std::vector<const Entry*>& others) const {
  const auto paths = [](const std::vector<const Entry*>& entries) {
    std::vector<std::string> names;
    for (const Entry* entry : entries) names.push_back(entry->candidate.path);
    std::sort(names.begin(), names.end());
    return shown_list(names);
  };
  const Entry& second = **std::min_element(
      others.begin(), others.end(), [](const Entry* a, const Entry* b) { return counts_before(*a, *b); });
  const Candidate& best = entries_[best_].candidate;
  return fmt::format("Of {} files for lesson {}, {}: {}{}; not looked at: {}.", entries_.size(),
                     lesson.two_digits(), reason(best, second.candidate), shown(best.path),
                     same.empty() ? "" : fmt::format(" (the same as {})", paths(same)), paths(others));
}

Submission LessonChoice::submission(const Lesson& lesson, std::optional<std::int64_t> deadline) const {
  const Entry& best = entries_.at(best_);
  Submission result;
  result.file = best.candidate.path;
  result.content = content_;
  result.problem = best.candidate.problem;
  result.unreadable = best.candidate.unreadable;
  result.late = is_late(best.candidate, deadline);
  std::int64_t handed_in = best.candidate.modified;
  std::vector<const Entry*> same, others;
  for (const Entry& entry : entries_) {
    if (&entry == &best) continue;
    const bool equal = !entry.digest.empty() && entry.digest == best.digest;
    (equal ? same : others).push_back(&entry);
    if (!equal) continue;
    result.late = result.late && is_late(entry.candidate, deadline);
    if (entry.candidate.modified != 0) handed_in = std::min(handed_in, entry.candidate.modified);
  }
  result.handed_in = format_time(handed_in);
  if (!others.empty()) result.notes.push_back(note(lesson, same, others));
  return result;
}

std::string format_time(std::int64_t seconds) {
  if (seconds == 0) return "";
  const std::time_t time = seconds;
  std::tm parts{};
  if (localtime_r(&time, &parts) == nullptr) return "";
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts)};
}

std::optional<std::int64_t> parse_time(const std::string& text) {
  if (text.empty()) return std::nullopt;
  std::tm parts{};
  std::array<char, 2> rest{};
  std::string full = text.size() == 16 ? text + ":00" : text;
  if (full.size() > 10 && full[10] == 'T') full[10] = ' ';
  const int fields = std::sscanf(full.c_str(), "%4d-%2d-%2d %2d:%2d:%2d%1s", &parts.tm_year, &parts.tm_mon,
                                 &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, rest.data());
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  parts.tm_isdst = -1;
  const std::time_t time = mktime(&parts);
  // mktime turns the 31st of June into the 1st of July.
  if (fields != 6 || time <= 0 || format_time(time) != full) {
    throw std::invalid_argument(
        fmt::format("The deadline \"{}\" is not a time; write it like 2026-11-22 17:30.", shown(text)));
  }
  return time;
}

}  // namespace course::classroom
