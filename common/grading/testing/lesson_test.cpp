#include "grading/testing/lesson_test.hpp"

#include <fmt/format.h>
#include <list>

#include <algorithm>
#include <cctype>
#include <list>

#include "grading/base/demangle.hpp"
#include "grading/base/messages.hpp"
#include "grading/facts/words.hpp"
#include "grading/testing/case.hpp"
#include "tensor/random.hpp"

namespace course::grading {
namespace {

constexpr const char* kTooMuchToTell =
    "What check mode counts decides here, and it is too much to be told: launch fewer kernels.";

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
void assert_that(std::optional<Failure> failure, TestLine where,
                 Catch::ResultDisposition::Flags when_failed) {
  Catch::AssertionHandler handler(Catch::StringRef("check"),
                                  Catch::SourceLineInfo(where.file, static_cast<std::size_t>(where.line)),
                                  Catch::StringRef(), when_failed);
  if (!failure || findings_only()) {
    handler.handleMessage(Catch::ResultWas::Ok, std::string());
  } else {
    failure_to_come() = *failure;
    handler.handleMessage(Catch::ResultWas::ExplicitFailure, to_words(*failure));
  }
  handler.complete();
}

/// That the call did not come back, or not as it should. A finding of the same call tells of a fault better.
Failure failure_of_call(const Outcome& outcome, const std::string& sentence) {
  Failure failure{.kind = Failure::Kind::call, .sentence = sentence};
  failure.found = (outcome.status == Status::fault || outcome.status == Status::timeout) &&
                  std::any_of(outcome.findings.begin(), outcome.findings.end(),
                              [](const Finding& finding) { return finding.severity == Severity::error; });
  return failure;
}

std::vector<Failure> failures_of_effects(const Outcome& outcome) {
  Failure misplaced{.kind = Failure::Kind::effects, .misplaced = true},
      others{.kind = Failure::Kind::effects};
  for (const Violation& one : outcome.violations)
    add_line((one.misplaced ? misplaced : others).sentence, one.sentence);
  add_line(others.sentence, leak_sentence(outcome));
  // Without counters, nothing of what is asked in every call could fail.
  if (outcome.checking == Checking::done && !outcome.profile) add_line(others.sentence, kTooMuchToTell);
  // An index that led outside there has led here, too.
  misplaced.found = std::any_of(outcome.findings.begin(), outcome.findings.end(), is_global_stray);
  std::vector<Failure> failures;
  for (Failure* const one : {&misplaced, &others})
    if (!one->sentence.empty()) failures.push_back(std::move(*one));
  return failures;
}

}  // namespace

void require_ran(const Outcome& outcome, TestLine where) {
  if (outcome.status != Status::returned) {
    std::vector<Failure> failures{failure_of_call(outcome, why_not_returned(outcome))};
    for (Failure& effect : failures_of_effects(outcome)) failures.push_back(std::move(effect));
    detail::report(failures, where);
  }
  for (const Failure& effect : failures_of_effects(outcome))
    assert_that(effect, where, Catch::ResultDisposition::ContinueOnFailure);
  detail::report(true, {}, where);
}

const Profile* profile_of(const Outcome& outcome, TestLine where) {
  detail::report(
      outcome.checking != Checking::left_out,
      "This test asks for counters of a call that was not run in check mode: its arrays are too large, or "
      "CallOptions::check says never.",
      where);
  detail::report(outcome.checking != Checking::stopped,
                 "What check mode counts decides here, and it did not see this call to its end.", where);
  detail::report(outcome.checking != Checking::done || outcome.profile, kTooMuchToTell, where);
  std::optional<Profile> profile = profile_if_counted(outcome, where);
  if (!profile) return nullptr;
  static std::list<Profile> kept;  // tests hold on to what they got
  return &kept.emplace_back(*std::move(profile));
}

std::optional<Profile> profile_if_counted(const Outcome& outcome, TestLine where) {
  if (!outcome.profile) return std::nullopt;
  const auto copied = outcome.counters.find(kCopiedWithin);
  detail::report(copied == outcome.counters.end(),
                 fmt::format("Your code has {} bytes copied from device memory to device memory. What counts "
                             "here is what kernels load and store: let a kernel move them.",
                             copied == outcome.counters.end() ? 0 : copied->second),
                 where);
  return with_atomics_as_accesses(*outcome.profile);
}

void require_no_warnings(const Outcome& outcome, TestLine where) {
  for (const Finding& finding : outcome.findings) {
    Failure failure{.kind = Failure::Kind::check, .sentence = finding.message()};
    failure.found = may_explain(finding);
    assert_that(finding.severity == Severity::warning ? std::optional(failure) : std::nullopt, where,
                Catch::ResultDisposition::Normal);
  }
}

CallOptions with_shifted_array(std::size_t arrays, std::size_t array, std::uint32_t bytes) {
  CallOptions call;
  call.shifts.resize(arrays);
  call.shifts[array] = bytes;
  return call;
}

std::vector<CallOptions> with_shifted_arrays(std::size_t arrays) {
  Random random(case_seed() + 16);
  const auto elements = [&](std::int64_t least) {
    return static_cast<std::uint32_t>(4 * random.integer(least, 3));
  };
  std::vector<CallOptions> calls;
  for (std::size_t i = 0; i < arrays; ++i) calls.push_back(with_shifted_array(arrays, i, elements(1)));
  calls.resize(arrays + 3);
  calls[arrays].shifts.assign(arrays, 8);
  calls[arrays + 1].shifts.assign(arrays, elements(1));
  calls[arrays + 1].shifts.back() = 0;
  for (std::size_t i = 0; i < arrays; ++i) calls[arrays + 2].shifts.push_back(elements(0));
  return calls;
}

void require_matches(const Tensor<float>& got, const ArrayName& name, const Tensor<double>& expected,
                     const Tensor<float>& baseline, const Mistakes& mistakes, const Bound& bound,
                     TestLine where) {
  if (findings_only()) return;
  const Comparison comparison = compare(got, name, expected, baseline, bound);
  if (comparison.passed) return detail::report(true, {}, where);
  Failure failure = comparison.failure();
  if (!comparison.wrong.empty()) failure.attempts = try_mistakes(mistakes, {got, expected, comparison});
  detail::report({failure}, where);
}

namespace detail {

void require_threw(const Outcome& outcome, const std::type_info& type, std::string_view mentions,
                   TestLine where) {
  calls_of_case().was_to_throw = true;
  std::vector<Failure> failures;
  if (const std::string why = why_not_thrown(outcome, demangle(type.name()), mentions); !why.empty())
    failures.push_back(failure_of_call(outcome, why));
  for (Failure& effect : failures_of_effects(outcome)) failures.push_back(std::move(effect));
  report(failures, where);
  report(true, {}, where);
}

void report(bool passed, const std::string& message, TestLine where) {
  const Failure failure{.kind = Failure::Kind::check, .sentence = message};
  assert_that(passed ? std::nullopt : std::optional(failure), where, Catch::ResultDisposition::Normal);
}

void report(const std::vector<Failure>& failures, TestLine where) {
  for (std::size_t i = 0; i < failures.size(); ++i)
    assert_that(failures[i], where,
                i + 1 == failures.size() ? Catch::ResultDisposition::Normal
                                         : Catch::ResultDisposition::ContinueOnFailure);
}

}  // namespace detail

bool require_refused_launch(const Outcome& outcome, const std::optional<Outcome>& unlimited, TestLine where) {
  if (unlimited && unlimited->counters.at("launches") == 0) return false;
  if (outcome.status == Status::returned && outcome.counters.at("launches") > 0) {
    require_ran(outcome, where);
    return false;
  }
  INFO("This test makes CUDA refuse a launch on purpose"
       << (outcome.status == Status::cuda_error
               ? "; your launch is fine, but the entry has to throw when it is refused"
               : ""));
  require_throws<std::runtime_error>(outcome, {}, where);
  return true;
}

}  // namespace course::grading
