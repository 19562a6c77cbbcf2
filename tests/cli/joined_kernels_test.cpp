#include "grading/build/joined_kernels.hpp"

#include "support/catch.hpp"

using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

const NamedCode kContract{"lessons/01_add/add.hpp",
                          "#pragma once\n/// @file\n\n#include <cstdint>\n\nnamespace course {\n\n"
                          "void add(int n);\n\n}  // namespace course\n"};

NamedCode kernel(const std::string& includes, const std::string& body) {
  return {"a/b.cu",
          "// Lesson 01.\n\n" + includes + "\nnamespace course {\n" + body + "}  // namespace course\n"};
}

const std::string kMine = "#include \"add.hpp\"\n#include <cmath>\n", kBody = "void add(int) {}\n";

}  // namespace

TEST_CASE("joined kernels have a namespace, a contract and a table each", "[cli][joined_kernels]") {
  NamedCode other = kernel(kMine, "#pragma unroll\nvoid add(int n) { n = 0; }\n");
  other.name = "c.cu";
  const auto joined = join_kernels(kContract, {"add"}, {kernel(kMine, kBody), other});
  REQUIRE(joined);
  CHECK(*joined ==
        "#include <cstdint>\n#include <cmath>\n#include \"grading/calls/entry.hpp\"\n"
        "namespace course::kernel_0 {\n#line 7 \"lessons/01_add/add.hpp\"\n\nvoid add(int n);\n\n}\n"
        "namespace course::kernel_0 {\n#line 7 \"a/b.cu\"\nvoid add(int) {}\n}\n"
        "COURSE_ENTRY_TABLE(course_entries_0, COURSE_ENTRY(course::kernel_0::add))\n"
        "namespace course::kernel_1 {\n#line 7 \"lessons/01_add/add.hpp\"\n\nvoid add(int n);\n\n}\n"
        "namespace course::kernel_1 {\n#line 7 \"c.cu\"\n#pragma unroll\nvoid add(int n) { n = 0; }\n}\n"
        "COURSE_ENTRY_TABLE(course_entries_1, COURSE_ENTRY(course::kernel_1::add))\n");
}

TEST_CASE("a kernel with other includes is not joined", "[cli][joined_kernels]") {
  const NamedCode first = kernel(kMine, kBody);
  CHECK(join_kernels(kContract, {"add"}, {first, first}));
  CHECK_FALSE(join_kernels(kContract, {"add"}, {first, kernel(kMine + "#include <cstdlib>\n", kBody)}));
  CHECK_FALSE(join_kernels(kContract, {"add"}, {}));
}

TEST_CASE("a kernel with anything outside of namespace course, or with directives, is compiled alone",
          "[cli][joined_kernels]") {
  CHECK(take_apart(kernel(kMine, kBody).code));
  CHECK_FALSE(take_apart(kernel(kMine + "int outside;\n", kBody).code));
  CHECK_FALSE(take_apart(kernel(kMine + "#define N 3\n", kBody).code));
  CHECK_FALSE(take_apart(kernel(kMine, "  #  define N 3\n" + kBody).code));
  CHECK_FALSE(take_apart(kernel(kMine, kBody + "}  // namespace course\nnamespace course {\n").code));
  CHECK_FALSE(take_apart(kernel(kMine, kBody).code + "int behind;\n"));
  CHECK_FALSE(take_apart("#include \"add.hpp\"\nnamespace course {\nvoid add(int) {}\n"));
  CHECK_FALSE(take_apart("void add(int) {}\n"));
}
