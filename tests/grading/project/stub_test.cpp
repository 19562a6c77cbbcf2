#include "grading/project/stub.hpp"

#include <fmt/core.h>

#include <stdexcept>
#include <string>

#include "grading/base/subprocess.hpp"
#include "grading/project/lesson.hpp"
#include "support/catch.hpp"

using course::grading::page_of;
using course::grading::stub_of;

namespace {

const std::string kSolution =
    "// [kernel]\n"
    "float weight(float s, float lse) {\n"
    "  // TODO 1: what does lse make of s?\n"
    "  // TODO 2: and if it is -inf?\n"
    "  // stub| return 0.0f;\n"
    "  // The weight.\n"
    "  return expf(s - lse);\n"
    "\n"
    "  // [done]\n"
    "}\n"
    "// [kernel]\n"
    "// [cut]\n"
    "constexpr int kAnswer = 42;\n"
    "// [done]\n"
    "// TODO: begin at the top.\n"
    "// [done]\n"
    "float y[3];  // [not a name]\n";

std::string refused_because(const std::string& solution) {
  try {
    (void)stub_of(solution);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a stub has the TODOs and what stands in the answers' places, and no names of regions") {
  CHECK(stub_of(kSolution) ==
        "float weight(float s, float lse) {\n"
        "  // TODO 1: what does lse make of s?\n"
        "  // TODO 2: and if it is -inf?\n"
        "  return 0.0f;\n"
        "}\n"
        "// TODO: begin at the top.\n"
        "float y[3];  // [not a name]\n");
}

TEST_CASE("a page has the answers with their comments and empty lines, and the names of regions") {
  CHECK(page_of(kSolution) ==
        "// [kernel]\n"
        "float weight(float s, float lse) {\n"
        "  // The weight.\n"
        "  return expf(s - lse);\n"
        "\n"
        "}\n"
        "// [kernel]\n"
        "constexpr int kAnswer = 42;\n"
        "float y[3];  // [not a name]\n");
}

TEST_CASE("code without parts is its own page and its own stub") {
  CHECK(page_of("int a;\n\nint b;\n") == "int a;\n\nint b;\n");
  CHECK(stub_of("int a;\n\nint b;\n") == "int a;\n\nint b;\n");
  CHECK(stub_of("").empty());
}

TEST_CASE("every lesson's stub is what its solution gives") {
  for (const auto& lesson : course::grading::read_lessons(COURSE_TEST_SOURCE_DIR)) {
    INFO(fmt::format("./course reset {} makes {} anew, and keeps what is there.", lesson.two_digits(),
                     lesson.stub().string()));
    CHECK(course::grading::read_file(lesson.stub()) == lesson.pristine_stub());
  }
}

TEST_CASE("a part that is not written as it should be is refused with its line") {
  CHECK(refused_because("// TODO 1: a?\nint a;\n") == "line 2: the last part has no [done].");
  CHECK(refused_because("int a;\n// [done]\n") ==
        "line 2: [done] ends nothing: there is no TODO and no [cut] before it.");
  CHECK(refused_because("// TODO 1: a?\nint a;\n// TODO 2: b?\n// [done]\n") ==
        "line 3: a TODO stands in a part that has not ended.");
  CHECK(refused_because("// [cut]\nint a;\n// [cut]\n// [done]\n") ==
        "line 3: [cut] stands in a part that has not ended.");
  CHECK(refused_because("// TODO 1: a?\nint a;\n// stub| int b;\n// [done]\n") ==
        "line 3: \"stub|\" belongs right below a TODO.");
  CHECK(refused_because("// stub| int b;\n") == "line 1: \"stub|\" belongs right below a TODO.");
}
