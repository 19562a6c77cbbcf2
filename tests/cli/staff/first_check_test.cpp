#include "cli/staff/first_check.hpp"

#include "grading/base/subprocess.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace course;
using namespace course::cli;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string kSaid =
    "FAIL  07 Naive attention                                   0 of 36 points  1.1 s\n"
    "  attends (1 point)\n"
    "    Nothing was launched.\n"
    "  Next: edit lessons/07_naive/naive.cu, then ./course check 07\n";

/// Why notes with this text differ from what the first check says.
std::string why(const std::string& notes) {
  const test::TemporaryFolder root;
  LessonReport report;
  report.lesson.number = 7;
  report.lesson.name = "naive";
  report.lesson.title = "Naive attention";
  report.lesson.points = 36;
  report.lesson.root = root.path();
  report.source = root.path() / "elsewhere.cu";
  report.compiled = true;
  report.verdict = Verdict::fail;
  report.seconds = 12.5;  // which moves the points, too
  CaseResult failed;
  failed.name = "attends";
  failed.points = 1;
  failed.failures = {{.kind = Failure::Kind::check, .sentence = "Nothing was launched."}};
  report.cases = {failed};
  std::filesystem::create_directories(report.lesson.folder());
  write_file_atomically(report.lesson.folder() / "README.md", notes);
  return why_notes_differ(report);
}

}  // namespace

TEST_CASE("notes with what the first check says are right, whatever time it took", "[cli][first_check]") {
  CHECK(why("# Notes\n\n```\n./course check 07\n```\n\n```\n" + kSaid + "```\n\nMore.\n").empty());
}

TEST_CASE("notes that have another line, one more or one less are told by it", "[cli][first_check]") {
  std::string other = kSaid;
  other.replace(other.find("Nothing was"), 11, "Two were");
  CHECK(why("```\n" + other + "```\n") ==
        "its first check says \"    Nothing was launched.\" where its README.md has \"    Two were "
        "launched.\".");
  CHECK_THAT(why("```\n" + kSaid + "  one more\n```\n"), ContainsSubstring("has \"  one more\""));
  CHECK_THAT(why("```\n" + kSaid.substr(0, kSaid.find("  Next")) + "```\n"),
             ContainsSubstring("says \"  Next: edit"));
}

TEST_CASE("notes without such a block are told so", "[cli][first_check]") {
  CHECK_THAT(why("# Notes\n"), ContainsSubstring("has no block"));
}
