#include "classroom/marking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "classroom/file_names.hpp"
#include "grading/facts/cause.hpp"
#include "grading/facts/words.hpp"
#include "simt/classes.hpp"

namespace course::classroom {
namespace {

using grading::CaseResult;

/// Addresses differ from run to run, and tell nobody anything. A number of 32 bits is none, such as a mask.
std::string without_addresses(std::string text) {
  constexpr std::size_t kDigitsOf32Bits = 8;
  for (std::size_t at = 0; (at = text.find("0x", at)) != std::string::npos;) {
    at += 2;
    const std::size_t end = std::min(text.find_first_not_of("0123456789abcdefABCDEF", at), text.size());
    if (end - at > kDigitsOf32Bits) text.replace(at, end - at, "...");
  }
  return text;
}

/// Findings are named only if their class is known: the file may command the worker that names them, and tell
/// of hidden data by a name of its own.
std::vector<std::string> diagnoses_of(const CaseResult& result, const std::optional<grading::Cause>& cause) {
  std::vector<std::string> names;
  if (cause && !sentence_for(*cause, result).empty()) names = cause->mistakes;
  for (const grading::Finding& finding : result.findings)
    if (finding.severity == grading::Severity::error && simt::check::find_class(finding.kind) != nullptr &&
        std::find(names.begin(), names.end(), finding.kind) == names.end())
      names.push_back(finding.kind);
  return names;
}

/// With the student's own path to the file, in place of the one that all files of the lesson are compiled by.
std::string with_own_path(std::string text, const grading::Lesson& lesson, const std::string& file) {
  const std::string compiled = fmt::format("submission/{}.cu", lesson.id()), own = shown(file);
  for (std::size_t at = 0; (at = text.find(compiled, at)) != std::string::npos; at += own.size())
    text.replace(at, compiled.size(), own);
  return text;
}

/// A case that has a hidden twin is worth half, and so is the twin.
void add_cases(LessonMark& mark, const std::vector<CaseResult>& cases, bool hidden,
               const std::function<bool(const std::string&)>& has_twin) {
  const std::optional<grading::Cause> cause = grading::likeliest_cause(cases);
  for (const CaseResult& result : cases) {
    if (hidden && !has_twin(result.name)) continue;
    const double share = has_twin(result.name) ? 0.5 : 1;
    CaseMark& one = mark.cases.emplace_back();
    one.name = result.name;
    one.hidden = hidden;
    one.passed = result.passed;
    one.max_points = share * result.points;
    one.points = result.passed ? one.max_points : 0;
    if (result.passed) continue;
    if (!hidden) one.message = without_addresses(to_words(result, cause));
    one.diagnoses = diagnoses_of(result, cause);
  }
}

}  // namespace

LessonMark mark_of(const grading::Lesson& lesson, const Submission& submission, const FileVerdict& verdict,
                   const MarkingPolicy& policy) {
  LessonMark mark;
  mark.lesson = lesson;
  mark.standing = verdict.standing;
  mark.file = submission.file;
  mark.handed_in = submission.handed_in;
  mark.late = submission.late;
  mark.notes = submission.notes;
  mark.message = with_own_path(without_addresses(verdict.message), lesson, submission.file);
  mark.max_points = lesson.points;
  mark.seconds = verdict.seconds;
  const auto without_twin = policy.without_twin.find(lesson.number);
  const auto has_twin = [&](const std::string& name) {
    return !verdict.hidden.empty() &&
           (without_twin == policy.without_twin.end() || !without_twin->second.contains(name));
  };
  add_cases(mark, verdict.open, false, has_twin);
  add_cases(mark, verdict.hidden, true, has_twin);
  for (CaseMark& one : mark.cases) {
    one.message = with_own_path(std::move(one.message), lesson, submission.file);
    mark.earned += one.points;
  }
  mark.points = mark.earned;
  if (mark.late && policy.late_share < 1) {
    mark.points = mark.earned * policy.late_share;
    mark.notes.push_back(fmt::format("Handed in late: {:g} % of the points count.", 100 * policy.late_share));
  }
  return mark;
}

LessonMark mark_of_unreadable(const grading::Lesson& lesson, const std::string& why) {
  LessonMark mark;
  mark.lesson = lesson;
  mark.standing = Standing::ungraded;
  mark.max_points = lesson.points;
  mark.message = why;
  return mark;
}

LessonMark mark_of_missing(const grading::Lesson& lesson) {
  LessonMark mark;
  mark.lesson = lesson;
  mark.max_points = lesson.points;
  mark.message = fmt::format("No file for this lesson was handed in; it is called {}.cu.", lesson.id());
  return mark;
}

}  // namespace course::classroom
