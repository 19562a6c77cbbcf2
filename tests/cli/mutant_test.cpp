#include "grading/judging/mutant.hpp"

#include <stdexcept>
#include <string>

#include "grading/base/subprocess.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

Mutant read_text(const std::string& text) {
  const ScratchFolder folder(fs::temp_directory_path());
  const fs::path file = folder.path() / "some.mutant";
  write_file_atomically(file, text);
  return read_mutant(file);
}

/// What a call complains about; empty if it does not.
template <class Call>
std::string complaint(const Call& call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

const std::string kHead = "Too short.\n\nexpect: tail\n\n";
const std::string kSolution = "int f() {\n  int n = 3;\n  return n;\n}\n\nint g() {\n  return n;\n}\n";

std::string applied(const std::string& edits) { return mutated(read_text(kHead + edits), kSolution); }

}  // namespace

TEST_CASE("a mutant says what is wrong, what is expected, and what to edit", "[cli][mutant]") {
  const Mutant mutant = read_text(
      "Too short.\n\ndiagnosis: tail\ndiagnosis: race\ndiagnosis-luck: shift\nexpect: missing\n"
      "expect-gpu: nothing\ncase: adds a tail\n\n"
      "replace:\n  a\n  b\nwith:\n  c\n\nreplace:\n  d\nwith:\n");
  CHECK(mutant.what == "Too short.");
  CHECK(mutant.diagnoses == std::vector<std::string>{"tail", "race"});
  CHECK(mutant.expect == std::vector<std::string>{"missing"});
  CHECK(mutant.expect_gpu == std::vector<std::string>{"nothing"});
  CHECK(mutant.diagnoses_by_luck == std::vector<std::string>{"shift"});
  CHECK(mutant.told_by == "adds a tail");
  REQUIRE(mutant.edits.size() == 2);
  CHECK(mutant.edits[0].before == "  a\n  b\n");
  CHECK(mutant.edits[0].after == "  c\n");
  CHECK(mutant.edits[1].before == "  d\n");
  CHECK(mutant.edits[1].after.empty());
}

TEST_CASE("edits replace whole lines, or remove them", "[cli][mutant]") {
  CHECK_THAT(applied("replace:\n  int n = 3;\nwith:\n  int n = 2;\n  ++n;\n"),
             ContainsSubstring("{\n  int n = 2;\n  ++n;\n  return n;\n"));
  CHECK_THAT(applied("replace:\n  int n = 3;\nwith:\n"), ContainsSubstring("{\n  return n;\n"));
  CHECK_THAT(applied("replace:\nint g() {\n  return n;\nwith:\nint g() {\n  return 0;\n"),
             ContainsSubstring("int g() {\n  return 0;\n}\n"));
}

TEST_CASE("an edit whose lines do not stand in the solution exactly once is refused", "[cli][mutant]") {
  CHECK_THAT(complaint([] { applied("replace:\n  return n;\nwith:\n"); }),
             ContainsSubstring("some.mutant:5: ") && ContainsSubstring("more than once"));
  CHECK_THAT(complaint([] { applied("replace:\n  return m;\nwith:\n"); }),
             ContainsSubstring("no such lines"));
  CHECK_THAT(complaint([] { applied("replace:\nreturn n;\nwith:\n"); }), ContainsSubstring("no such lines"));
}

TEST_CASE("a mutant that is not written as it should be is refused, with its line", "[cli][mutant]") {
  const auto refused = [](const std::string& text) { return complaint([&] { read_text(text); }); };
  CHECK_THAT(refused(""), ContainsSubstring("what is wrong"));
  CHECK_THAT(refused("Wrong.\n\nreplace:\na\nwith:\nb\n"), ContainsSubstring("expect: "));
  CHECK_THAT(refused(kHead), ContainsSubstring("no edit"));
  CHECK_THAT(refused("Wrong.\n\ncase: one\ncase: other\n"), ContainsSubstring("some.mutant:4: "));
  CHECK_THAT(refused("Wrong.\nExpect: x\n"), ContainsSubstring("some.mutant:2: "));
  CHECK_THAT(refused(kHead + "with:\nb\n"), ContainsSubstring("needs a \"replace:\""));
  CHECK_THAT(refused(kHead + "replace:\na\n"), ContainsSubstring("has no \"with:\""));
  CHECK_THAT(refused(kHead + "replace:\nwith:\nb\n"), ContainsSubstring("nothing to replace"));
}
