#include "grading/judging/judge.hpp"

#include "grading/base/subprocess.hpp"
#include "support/catch.hpp"
#include "support/findings.hpp"

namespace fs = std::filesystem;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

CaseResult case_result(bool passed, int points, const std::string& message = "") {
  CaseResult result;
  result.name = "a case";
  result.passed = passed;
  result.points = points;
  if (!passed) result.failures = {course::test::failed_check(message)};
  return result;
}

/// A report of a lesson of 3 points.
LessonReport report(std::vector<CaseResult> cases) {
  LessonReport result;
  result.lesson.points = 3;
  result.compiled = true;
  result.verdict = Verdict::pass;
  for (const CaseResult& c : cases) {
    result.points += c.passed ? c.points : 0;
    if (!c.passed) result.verdict = Verdict::fail;
  }
  result.cases = std::move(cases);
  return result;
}

/// A mutant with these keys, held against a report.
Judgement judge_mutant(const std::string& keys, const LessonReport& result, Backend backend = Backend::cpu) {
  const ScratchFolder folder(fs::temp_directory_path());
  const fs::path file = folder.path() / "mutant.mutant";
  write_file_atomically(file, "Something is wrong.\n\n" + keys + "\nreplace:\na\nwith:\nb\n");
  return judge({VariantKind::mutant, "mutant/mutant", file}, result, backend);
}

CaseResult diagnosed_case(const std::string& name) {
  CaseResult result = case_result(false, 1, "wrong");
  result.failures.push_back(course::test::wrong_values("c", {{name, "It is that."}}));
  return result;
}

CaseResult case_with_finding(const std::string& kind, Severity severity = Severity::error) {
  CaseResult result = case_result(false, 1, "wrong");
  result.findings = {course::test::finding(kind, 3, severity, "two threads write here")};
  return result;
}

const Variant kSolution{VariantKind::solution, "solution", {}};
const Variant kStub{VariantKind::stub, "stub", {}};

}  // namespace

TEST_CASE("a solution must pass with all points of lesson.json", "[cli][judge]") {
  CHECK(judge(kSolution, report({case_result(true, 3)}), Backend::cpu).as_expected);
  CHECK_FALSE(judge(kSolution, report({case_result(true, 2)}), Backend::cpu).as_expected);
  CHECK_FALSE(judge(kSolution, report({case_result(true, 2), case_result(false, 1, "why")}), Backend::cpu)
                  .as_expected);
}

TEST_CASE("a stub must fail, with a reason for each case", "[cli][judge]") {
  CHECK(judge(kStub, report({case_result(false, 3, "why")}), Backend::cpu).as_expected);
  CHECK_FALSE(judge(kStub, report({case_result(true, 3)}), Backend::cpu).as_expected);
  CHECK_FALSE(
      judge(kStub, report({case_result(false, 2, "why"), case_result(false, 1)}), Backend::cpu).as_expected);
}

TEST_CASE("what does not compile is never as expected", "[cli][judge]") {
  LessonReport broken;
  broken.error = "no";
  for (const VariantKind kind : {VariantKind::stub, VariantKind::solution, VariantKind::mutant}) {
    CHECK_FALSE(judge({kind, "any", {}}, broken, Backend::cpu).as_expected);
  }
}

TEST_CASE("a solution whose tests take long is told so, which is no reason to fail", "[cli][judge]") {
  LessonReport slow = report({case_result(true, 3)});
  slow.seconds = kManySeconds + 1;
  const Judgement solution = judge(kSolution, slow, Backend::cpu);
  CHECK(solution.as_expected);
  CHECK_THAT(solution.reason, ContainsSubstring("after 21 s"));
  slow.seconds = kManySeconds - 1;
  CHECK(judge(kSolution, slow, Backend::cpu).reason == "passes with 3 of 3 points");
}

TEST_CASE("a mutant must be rejected in the words of its file", "[cli][judge]") {
  const std::string keys = "expect: past the end\n";
  CHECK(judge_mutant(keys, report({case_result(false, 1, "wrote past the end of c")})).as_expected);
  CHECK_FALSE(judge_mutant(keys, report({case_result(true, 1)})).as_expected);
  CHECK_THAT(judge_mutant(keys, report({case_result(false, 1, "other")})).reason,
             ContainsSubstring("past the end"));
}

TEST_CASE("the words may stand in a finding", "[cli][judge]") {
  CHECK(judge_mutant("diagnosis: race\nexpect: two threads\n", report({case_with_finding("race")}))
            .as_expected);
}

TEST_CASE("a mutant must get the diagnoses that it names", "[cli][judge]") {
  const std::string keys = "diagnosis: tail_missing\nexpect: wrong\n";
  CHECK(judge_mutant(keys, report({diagnosed_case("tail_missing")})).as_expected);
  CHECK_THAT(judge_mutant(keys, report({case_result(false, 1, "wrong")})).reason,
             ContainsSubstring("tail_missing"));
}

TEST_CASE("a mutant must be told no other cause than those it names", "[cli][judge]") {
  const std::string keys = "diagnosis: tail_missing\nexpect: wrong\n";
  const Judgement other = judge_mutant(
      keys,
      report({diagnosed_case("tail_missing"), diagnosed_case("transposed"), diagnosed_case("transposed")}));
  CHECK_FALSE(other.as_expected);
  CHECK_THAT(other.reason, ContainsSubstring("\"transposed\""));
  CHECK_FALSE(judge_mutant("expect: wrong\n", report({case_with_finding("race")})).as_expected);
  CHECK(judge_mutant("expect: wrong\n", report({case_with_finding("race", Severity::warning)})).as_expected);
}

TEST_CASE("the case that a mutant names must tell it by itself", "[cli][judge]") {
  CaseResult small = case_result(false, 1, "wrong"), large = case_result(false, 1, "past the end");
  small.name = "adds three";
  large.name = "adds a million";
  const LessonReport both = report({small, large}), large_alone = report({large});
  CHECK(judge_mutant("expect: past the end\ncase: adds a million\n", both).as_expected);
  CHECK(judge_mutant("expect: past the end\ncase: adds a million\n", large_alone).as_expected);
  for (const char* name : {"adds three", "adds four"}) {
    const Judgement other = judge_mutant(std::string("expect: past the end\ncase: ") + name + "\n", both);
    CHECK_FALSE(other.as_expected);
    CHECK_THAT(other.reason, ContainsSubstring(name));
  }
  CHECK_FALSE(judge_mutant("expect: wrong\nexpect: past the end\ncase: adds three\n", both).as_expected);
  CHECK(judge_mutant("expect: past the end\ncase: adds three\n", both, Backend::gpu).as_expected);
}

TEST_CASE("a mutant is rejected already when its words and diagnoses are all there", "[cli][judge]") {
  const ScratchFolder folder(fs::temp_directory_path());
  const fs::path file = folder.path() / "mutant.mutant";
  write_file_atomically(file, "Wrong.\n\ndiagnosis: tail_missing\nexpect: past\n\nreplace:\na\nwith:\nb\n");
  const Variant mutant{VariantKind::mutant, "mutant/mutant", file};
  const CaseResult right = case_result(true, 1), words = case_result(false, 1, "past the end");
  const auto already = [&](const std::vector<CaseResult>& so_far) {
    return rejected_already(mutant, so_far, Backend::cpu);
  };
  CHECK_FALSE(already({}));
  CHECK_FALSE(already({right, words}));
  CHECK_FALSE(already({right, diagnosed_case("tail_missing")}));
  CHECK(already({right, words, diagnosed_case("tail_missing")}));
  CHECK_FALSE(already(
      {words, diagnosed_case("tail_missing"), diagnosed_case("transposed"), diagnosed_case("transposed")}));
  CHECK_FALSE(rejected_already(kStub, {words}, Backend::cpu));
}

TEST_CASE("on a GPU a mutant need not get its diagnosis, but no other", "[cli][judge]") {
  const std::string keys = "diagnosis: tail_missing\nexpect: wrong\n";
  CHECK(judge_mutant(keys, report({case_result(false, 1, "wrong")}), Backend::gpu).as_expected);
  CHECK_FALSE(judge_mutant(keys, report({diagnosed_case("transposed")}), Backend::gpu).as_expected);
  CHECK(judge_mutant(keys, report({case_with_finding("cudaErrorIllegalAddress")}), Backend::gpu).as_expected);
}

TEST_CASE("a diagnosis that depends on luck may be recorded besides, or not", "[cli][judge]") {
  const std::string keys = "diagnosis: tail_missing\ndiagnosis-luck: transposed\nexpect: wrong\n";
  for (const Backend backend : {Backend::cpu, Backend::gpu}) {
    CHECK(judge_mutant(keys, report({diagnosed_case("tail_missing")}), backend).as_expected);
    CHECK(judge_mutant(keys, report({diagnosed_case("tail_missing"), diagnosed_case("transposed")}), backend)
              .as_expected);
  }
  CHECK_FALSE(judge_mutant(keys, report({diagnosed_case("transposed")})).as_expected);
}

TEST_CASE("a mutant that a GPU cannot tell from a solution passes there", "[cli][judge]") {
  const std::string keys = "expect: read once\nexpect-gpu: nothing\n";
  CHECK(judge_mutant(keys, report({case_result(true, 1)}), Backend::gpu).as_expected);
  CHECK_FALSE(judge_mutant(keys, report({case_result(false, 1, "other")}), Backend::gpu).as_expected);
  CHECK_FALSE(judge_mutant(keys, report({case_result(true, 1)})).as_expected);
}

TEST_CASE("what depends on timing on a GPU is not judged there", "[cli][judge]") {
  const std::string keys = "expect: race\nexpect-gpu: luck\n";
  CHECK(judge_mutant(keys, report({case_result(true, 1)}), Backend::gpu).as_expected);
  CHECK(judge_mutant(keys, report({case_result(false, 1, "other")}), Backend::gpu).as_expected);
  CHECK_FALSE(judge_mutant(keys, report({case_result(false, 1, "other")})).as_expected);
}

TEST_CASE("a GPU has words of its own where the file names them", "[cli][judge]") {
  const std::string keys = "expect: simulator words\nexpect-gpu: gpu words\n";
  CHECK(judge_mutant(keys, report({case_result(false, 1, "simulator words")})).as_expected);
  CHECK(judge_mutant(keys, report({case_result(false, 1, "gpu words")}), Backend::gpu).as_expected);
  CHECK_FALSE(judge_mutant(keys, report({case_result(false, 1, "gpu words")})).as_expected);
}
