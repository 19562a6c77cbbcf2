#include "grading/judging/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "grading/base/messages.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/facts/cause.hpp"
#include "grading/facts/words.hpp"
#include "grading/judging/mutant.hpp"
#include "grading/project/stub.hpp"
#include "simt/classes.hpp"

namespace course::grading {
namespace {

/// Everything that a student may read about a failed case: what speaks for each mistake, too, since the cases
/// judged so far need not be all that choose between them.
std::string told(const CaseResult& result) {
  std::string text = to_words(result, std::nullopt);
  for (const Failure& failure : result.failures)
    for (const Attempt& attempt : failure.attempts)
      if (!attempt.sentence.empty()) text += "\n" + attempt.sentence;
  for (const Finding& finding : result.findings) text += "\n" + finding.message();
  return text;
}

std::vector<CaseResult> failed_cases(const std::vector<CaseResult>& cases) {
  std::vector<CaseResult> failed;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(failed),
               [](const CaseResult& result) { return !result.passed; });
  return failed;
}

Judgement judge_correct(const Variant& variant, const LessonReport& report, Backend backend) {
  const std::string points =
      std::to_string(report.points) + " of " + std::to_string(report.lesson.points) + " points";
  if (report.verdict == Verdict::pass) {
    std::string reason = "passes with " + points;
    // Not a reason to fail: the machine may have other work.
    if (variant.kind == VariantKind::solution && backend == Backend::cpu && report.seconds > kManySeconds)
      reason += fmt::format(", after {:.0f} s, and students run these tests often", report.seconds);
    return {report.points == report.lesson.points, reason};
  }
  const CaseResult failed = failed_cases(report.cases).front();
  return {false,
          "should pass, but has " + points + "; \"" + failed.name + "\" says: " + first_line(told(failed))};
}

Judgement judge_stub(const LessonReport& report) {
  const auto failed = failed_cases(report.cases);
  for (const CaseResult& result : failed) {
    if (told(result).empty()) return {false, "\"" + result.name + "\" fails without a reason"};
  }
  if (failed.empty()) return {false, "should fail, but passes"};
  return {true, "fails as it should: " + first_line(told(failed.front()))};
}

/// Classes of errors that check mode found, but on a GPU, where what CUDA reports depends on what lies past
/// an array.
std::set<std::string> classes_of_errors(const std::vector<CaseResult>& failed, Backend backend) {
  std::set<std::string> names;
  if (backend == Backend::gpu) return names;
  for (const CaseResult& result : failed)
    for (const Finding& finding : result.findings)
      if (finding.severity == Severity::error) names.insert(finding.kind);
  return names;
}

/// Those, and the mistakes that explain some result.
std::set<std::string> all_that_fits(const std::vector<CaseResult>& failed, Backend backend) {
  std::set<std::string> names = classes_of_errors(failed, backend);
  for (const CaseResult& result : failed)
    for (const Failure& failure : result.failures)
      for (const Attempt& attempt : failure.attempts)
        if (!attempt.sentence.empty()) names.insert(attempt.mistake);
  return names;
}

/// Why the diagnoses are not those that the mutant names; empty if they are. Each name has to fit, and the
/// cause that a student would be told has to be among them.
std::string wrong_diagnoses(const Mutant& mutant, const std::vector<CaseResult>& failed, Backend backend) {
  const auto named = [&](const std::string& name) {
    return std::count(mutant.diagnoses.begin(), mutant.diagnoses.end(), name) +
               std::count(mutant.diagnoses_by_luck.begin(), mutant.diagnoses_by_luck.end(), name) >
           0;
  };
  for (const std::string& name : classes_of_errors(failed, backend))
    if (!named(name))
      return fmt::format("is diagnosed with \"{}\", which its file does not name; \"{}\" says: {}", name,
                         failed.front().name, first_line(told(failed.front())));
  const std::optional<Cause> cause = likeliest_cause(failed);
  if (cause && std::none_of(cause->mistakes.begin(), cause->mistakes.end(), named))
    return fmt::format("is told the cause \"{}\", which its file does not name; \"{}\" says: {}",
                       cause->mistakes.front(), failed.front().name, first_line(told(failed.front())));
  if (backend == Backend::gpu)
    return {};  // there is no check mode, and wrong values may differ from run to run
  const std::set<std::string> got = all_that_fits(failed, backend);
  for (const std::string& name : mutant.diagnoses)
    if (got.count(name) == 0)
      return fmt::format("is rejected, but nothing in a failed case fits \"{}\"; \"{}\" says: {}", name,
                         failed.front().name, first_line(told(failed.front())));
  return {};
}

/// Why these cases do not tell the mutant as its file says; empty if they do.
std::string why_not_told(const Mutant& mutant, const std::vector<std::string>& expected,
                         const std::vector<CaseResult>& failed, Backend backend) {
  if (failed.empty()) return "should be rejected, but passes";
  for (const std::string& sentence : expected) {
    const bool said = std::any_of(failed.begin(), failed.end(), [&](const CaseResult& result) {
      return told(result).find(sentence) != std::string::npos;
    });
    if (!said)
      return "is rejected, but no failed case says \"" + sentence + "\"; \"" + failed.front().name +
             "\" says: " + first_line(told(failed.front()));
  }
  return wrong_diagnoses(mutant, failed, backend);
}

Judgement judge_mutant(const Variant& variant, const std::vector<CaseResult>& cases, Backend backend) {
  const Mutant mutant = read_mutant(variant.file);
  const auto& expected =
      backend == Backend::gpu && !mutant.expect_gpu.empty() ? mutant.expect_gpu : mutant.expect;
  const auto failed = failed_cases(cases);
  if (expected.front() == Mutant::kLuck)
    return {true,
            failed.empty() ? "passes, by luck" : "is rejected, by luck: " + first_line(told(failed.front()))};
  if (expected.front() == Mutant::kNothing)
    return {failed.empty(), failed.empty()
                                ? "passes: only the simulator can tell"
                                : "should pass where nothing counts its traffic, but is rejected: " +
                                      first_line(told(failed.front()))};
  if (const std::string why = why_not_told(mutant, expected, failed, backend); !why.empty())
    return {false, why};
  if (backend == Backend::cpu && !mutant.told_by.empty()) {
    auto by_it = failed;
    std::erase_if(by_it, [&](const CaseResult& result) { return result.name != mutant.told_by; });
    if (!why_not_told(mutant, expected, by_it, backend).empty())
      return {false, "is rejected, but not as its file says by the case that it names, \"" + mutant.told_by +
                         "\", alone"};
  }
  return {true, "is rejected: " + expected.front()};
}

/// Whether a finding of this name takes check mode.
bool takes_check_mode(const std::string& name) {
  const simt::check::FindingClass* const known = simt::check::find_class(name);
  return known != nullptr && known->finder == simt::check::Finder::check_mode;
}

}  // namespace

std::vector<Variant> variants_of(const Lesson& lesson) {
  std::vector<Variant> variants{{VariantKind::stub, "stub", lesson.solution()},
                                {VariantKind::solution, "solution", lesson.solution()}};
  for (const auto& file : lesson.alternatives()) {
    variants.push_back({VariantKind::alternative, "alternative/" + file.stem().string(), file});
  }
  for (const auto& file : lesson.mutants()) {
    variants.push_back({VariantKind::mutant, "mutant/" + file.stem().string(), file});
  }
  return variants;
}

std::filesystem::path kernel_of(const Variant& variant, const Lesson& lesson,
                                const std::filesystem::path& folder) {
  const bool stub = variant.kind == VariantKind::stub;
  if (!stub && variant.kind != VariantKind::mutant) return variant.file;
  const std::string code = stub ? lesson.pristine_stub()
                                : mutated(read_mutant(variant.file), page_of(read_file(lesson.solution())));
  const std::filesystem::path file =
      folder / lesson.id() / ((stub ? "stub" : variant.file.stem().string()) + ".cu");
  std::filesystem::create_directories(file.parent_path());
  if (!std::filesystem::exists(file) || read_file(file) != code) write_file_atomically(file, code);
  return file;
}

bool run_mode_may_settle(const Variant& variant) {
  if (variant.kind != VariantKind::mutant) return variant.kind == VariantKind::stub;
  const Mutant mutant = read_mutant(variant.file);
  if (!mutant.expect_gpu.empty() && mutant.expect_gpu.front() == Mutant::kNothing) return false;
  return std::none_of(mutant.diagnoses.begin(), mutant.diagnoses.end(), takes_check_mode);
}

bool rejected_already(const Variant& variant, const std::vector<CaseResult>& so_far, Backend backend) {
  return variant.kind == VariantKind::mutant && !failed_cases(so_far).empty() &&
         judge_mutant(variant, so_far, backend).as_expected;
}

Judgement judge(const Variant& variant, const LessonReport& report, Backend backend) {
  if (report.verdict == Verdict::error) {
    return {false, (report.compiled ? "could not be judged: " : "does not compile: ") + report.error};
  }
  switch (variant.kind) {
    case VariantKind::stub:
      return judge_stub(report);
    case VariantKind::mutant:
      return judge_mutant(variant, report.cases, backend);
    case VariantKind::solution:
    case VariantKind::alternative:
      break;
  }
  return judge_correct(variant, report, backend);
}

}  // namespace course::grading
