#include "grading/judge.hpp"

#include "grading/subprocess.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

CaseResult case_result(bool passed, int points, const std::string& message = "") {
  CaseResult result;
  result.name = "a case";
  result.passed = passed;
  result.points = points;
  result.message = message;
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

Judgement judge_mutant(const std::string& header, const LessonReport& result,
                       Backend backend = Backend::cpu) {
  const ScratchFolder folder(fs::temp_directory_path());
  const fs::path file = folder.path() / "mutant.cu";
  write_file_atomically(file, header);
  return judge({VariantKind::mutant, "mutant/mutant", file}, result, backend);
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

TEST_CASE("a mutant must be rejected in the words of its header", "[cli][judge]") {
  const std::string header = "// Mutant of lesson 01: x.\n// Expect: past the end\n\nint x;\n";
  CHECK(judge_mutant(header, report({case_result(false, 1, "wrote past the end of c")})).as_expected);
  CHECK_FALSE(judge_mutant(header, report({case_result(true, 1)})).as_expected);
  CHECK_THAT(judge_mutant(header, report({case_result(false, 1, "other")})).reason,
             ContainsSubstring("past the end"));
  CHECK_FALSE(judge_mutant("// Mutant of lesson 01: x.\n", report({case_result(false, 1, "x")})).as_expected);
}

TEST_CASE("the words may stand in a diagnosis or a diagnostic", "[cli][judge]") {
  CaseResult diagnosed = case_result(false, 1, "wrong");
  diagnosed.diagnoses = {"this is what you get without the rescaling"};
  CHECK(judge_mutant("// Expect: without the rescaling\n", report({diagnosed})).as_expected);
  CaseResult reported = case_result(false, 1, "wrong");
  reported.diagnostics = {{"race", "kernel.cu", 3, "two threads write here"}};
  CHECK(judge_mutant("// Expect: two threads\n", report({reported})).as_expected);
}

TEST_CASE("a mutant that a GPU cannot tell from a solution passes there", "[cli][judge]") {
  const std::string header = "// Expect: read once\n// Expect-gpu: nothing\n";
  CHECK(judge_mutant(header, report({case_result(true, 1)}), Backend::gpu).as_expected);
  CHECK_FALSE(judge_mutant(header, report({case_result(false, 1, "other")}), Backend::gpu).as_expected);
  CHECK_FALSE(judge_mutant(header, report({case_result(true, 1)})).as_expected);
}

TEST_CASE("a GPU has words of its own where the header names them", "[cli][judge]") {
  const std::string header = "// Expect: simulator words\n// Expect-gpu: gpu words\n";
  CHECK(expectations(header, Backend::cpu) == std::vector<std::string>{"simulator words"});
  CHECK(expectations(header, Backend::gpu) == std::vector<std::string>{"gpu words"});
  CHECK(expectations("// Expect: both\n", Backend::gpu) == std::vector<std::string>{"both"});
  CHECK(expectations("int x;\n// Expect: too late\n", Backend::cpu).empty());
}
