#include "grading/judge.hpp"

#include <algorithm>
#include <sstream>

#include "grading/subprocess.hpp"

namespace course::grading {
namespace {

/// What a mutant expects where it passes, because its outputs are right and nothing there looks further.
constexpr std::string_view kNothing = "nothing";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Everything a student would read about a failed case.
std::string told(const CaseResult& result) {
  std::string text = result.message;
  for (const std::string& diagnosis : result.diagnoses) text += "\n" + diagnosis;
  for (const Diagnostic& diagnostic : result.diagnostics) text += "\n" + diagnostic.message;
  return text;
}

std::vector<CaseResult> failed_cases(const LessonReport& report) {
  std::vector<CaseResult> failed;
  std::copy_if(report.cases.begin(), report.cases.end(), std::back_inserter(failed),
               [](const CaseResult& result) { return !result.passed; });
  return failed;
}

Judgement judge_correct(const LessonReport& report) {
  const std::string points =
      std::to_string(report.points) + " of " + std::to_string(report.lesson.points) + " points";
  if (report.verdict == Verdict::pass) {
    return {report.points == report.lesson.points, "passes with " + points};
  }
  const CaseResult failed = failed_cases(report).front();
  return {false,
          "should pass, but has " + points + "; \"" + failed.name + "\" says: " + first_line(failed.message)};
}

Judgement judge_stub(const LessonReport& report) {
  const auto failed = failed_cases(report);
  for (const CaseResult& result : failed) {
    if (result.message.empty()) return {false, "\"" + result.name + "\" fails without a reason"};
  }
  if (failed.empty()) return {false, "should fail, but passes"};
  return {true, "fails as it should: " + first_line(failed.front().message)};
}

Judgement judge_mutant(const Variant& variant, const LessonReport& report, Backend backend) {
  const auto expected = expectations(read_file(variant.file), backend);
  const auto failed = failed_cases(report);
  if (expected.empty()) return {false, "has no \"// Expect: ...\" line in its header"};
  if (expected.front() == kNothing)
    return {failed.empty(), failed.empty()
                                ? "passes: only the simulator can tell"
                                : "should pass where nothing counts its traffic, but is rejected: " +
                                      first_line(told(failed.front()))};
  if (failed.empty()) return {false, "should be rejected, but passes"};
  for (const std::string& sentence : expected) {
    const bool said = std::any_of(failed.begin(), failed.end(), [&](const CaseResult& result) {
      return told(result).find(sentence) != std::string::npos;
    });
    if (!said) {
      return {false, "is rejected, but no failed case says \"" + sentence + "\"; \"" + failed.front().name +
                         "\" says: " + first_line(told(failed.front()))};
    }
  }
  return {true, "is rejected: " + expected.front()};
}

}  // namespace

std::vector<Variant> variants_of(const Lesson& lesson) {
  std::vector<Variant> variants{{VariantKind::stub, "stub", lesson.stub()},
                                {VariantKind::solution, "solution", lesson.solution()}};
  for (const auto& file : lesson.alternatives()) {
    variants.push_back({VariantKind::alternative, "alternative/" + file.stem().string(), file});
  }
  for (const auto& file : lesson.mutants()) {
    variants.push_back({VariantKind::mutant, "mutant/" + file.stem().string(), file});
  }
  return variants;
}

std::vector<std::string> expectations(const std::string& code, Backend backend) {
  std::vector<std::string> anywhere, on_gpu;
  std::istringstream stream(code);
  for (std::string line; std::getline(stream, line) && line.starts_with("//");) {
    const auto take = [&line](std::string_view prefix, std::vector<std::string>& list) {
      if (line.starts_with(prefix)) list.push_back(line.substr(prefix.size()));
    };
    take("// Expect: ", anywhere);
    take("// Expect-gpu: ", on_gpu);
  }
  return backend == Backend::gpu && !on_gpu.empty() ? on_gpu : anywhere;
}

Judgement judge(const Variant& variant, const LessonReport& report, Backend backend) {
  if (report.verdict == Verdict::error) {
    return {false, (report.compiled ? "could not be judged: " : "does not compile: ") + report.error};
  }
  switch (variant.kind) {
    case VariantKind::stub:
      return judge_stub(report);
    case VariantKind::mutant:
      return judge_mutant(variant, report, backend);
    case VariantKind::solution:
    case VariantKind::alternative:
      break;
  }
  return judge_correct(report);
}

}  // namespace course::grading
