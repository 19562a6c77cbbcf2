#include "grading/testing/lesson_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "grading/base/demangle.hpp"
#include "grading/testing/case.hpp"

namespace course::grading {
namespace {

bool has_word(std::string_view text, std::string_view word) {
  const auto part_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !part_of_word(text[at - 1])) && (end == text.size() || !part_of_word(text[end])))
      return true;
  }
  return false;
}

std::string why_not_thrown(const Outcome& outcome, const std::string& wanted, std::string_view mentions) {
  if (outcome.status == Status::returned)
    return fmt::format("Your code returned, but was to throw {}{}.", wanted,
                       mentions.empty() ? "" : fmt::format(" with a message that names {}", mentions));
  if (outcome.status != Status::threw) return outcome.message;
  const bool right_type = outcome.exception_type == wanted ||
                          std::find(outcome.exception_bases.begin(), outcome.exception_bases.end(), wanted) !=
                              outcome.exception_bases.end();
  if (!right_type)
    return fmt::format("Your code threw {} (\"{}\"), but was to throw {}.", outcome.exception_type,
                       outcome.exception_message, wanted);
  if (!mentions.empty() && !has_word(outcome.exception_message, mentions))
    return fmt::format(
        "Your code threw {} as it should, but its message \"{}\" does not name {}, which is what was "
        "wrong.",
        outcome.exception_type, outcome.exception_message, mentions);
  return {};
}

/// What FAIL(), FAIL_CHECK() and SUCCEED() expand to, with the line of the test instead of this one.
void assert_that(bool passed, const std::string& message, TestLine where, std::string_view name,
                 Catch::ResultDisposition::Flags when_failed) {
  Catch::AssertionHandler handler(Catch::StringRef(name.data(), name.size()),
                                  Catch::SourceLineInfo(where.file, static_cast<std::size_t>(where.line)),
                                  Catch::StringRef(), when_failed);
  if (passed || findings_only())
    handler.handleMessage(Catch::ResultWas::Ok, std::string());
  else
    handler.handleMessage(Catch::ResultWas::ExplicitFailure, std::string(message));
  handler.complete();
}

}  // namespace

void require_ran(const Outcome& outcome, TestLine where) {
  const std::string why = why_not_clean(outcome);
  if (outcome.status == Status::returned && !why.empty())
    detail::report_last(why, where);
  else
    detail::report(why.empty(), why, where);
}

const Profile* profile_of(const Outcome& outcome, TestLine where) {
  detail::report(
      outcome.checking != Checking::left_out,
      "This test asks for counters of a call that was not run in check mode: its arrays are too large, or "
      "CallOptions::check says never.",
      where);
  return outcome.profile ? &*outcome.profile : nullptr;
}

void require_no_warnings(const Outcome& outcome, TestLine where) {
  for (const Diagnostic& diagnostic : outcome.diagnostics)
    detail::report(diagnostic.severity != Severity::warning, diagnostic.message, where);
}

void require_matches(const Tensor<float>& got, std::string_view name, const Tensor<double>& expected,
                     const Tensor<float>& baseline, const Mistakes& mistakes, Bound bound, TestLine where) {
  if (findings_only()) return;
  const Comparison comparison = compare(got, name, expected, baseline, bound);
  std::string message = comparison.message;
  if (!comparison.wrong.empty()) {
    if (const auto diagnosis = diagnose(mistakes, {got, expected, comparison})) {
      current_case().diagnoses.push_back(diagnosis->name);
      message += "\n" + diagnosis->sentence;
    }
  }
  detail::report(comparison.passed, message, where);
}

namespace detail {

void require_threw(const Outcome& outcome, const std::type_info& type, std::string_view mentions,
                   TestLine where) {
  std::string why = why_not_thrown(outcome, demangle(type.name()), mentions);
  if (const std::string effects = side_effects(outcome); !effects.empty())
    why += (why.empty() ? "" : "\n") + effects;
  report(why.empty(), why, where);
}

void report(bool passed, const std::string& message, TestLine where) {
  assert_that(passed, message, where, "check", Catch::ResultDisposition::Normal);
}

void report_last(const std::string& message, TestLine where) {
  assert_that(false, message, where, kComesLast, Catch::ResultDisposition::ContinueOnFailure);
}

}  // namespace detail
}  // namespace course::grading
