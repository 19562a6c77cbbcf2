// How errors of compilers other than this machine's are explained. The messages of "clang 14" and "nvcc 13"
// are recorded, with the names and lines of the file below put in; those of the others are written after the
// form that these compilers give them. compile_errors_test.cpp has those of the compilers that are here.

#include "grading/build/compile_advice.hpp"

#include <filesystem>
#include <fstream>

#include "grading/base/subprocess.hpp"
#include "grading/build/compiler_messages.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

/// With a mistake on most lines; each message below is about one of them.
constexpr const char* kCode = R"(#include "add.hpp"

namespace course {

__global__ void add_kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx;
  if (i < n) {
    y[i] = x[i] + 1
  }
  __shared__ float tile[n];
  x[i] = blockDim.X;
  return i;
}

void add(const float* x, int n) {
  add_kernel<<<1, 256>>>(x, n);
  CUDA_CHECK(cudaMalloc(p, 4));
  std::vector<int> v;
  add_kernel<<1, 256>>>(x, x, n);
  std::min(n, 4096L);
}

}  // namespace course
)";

Lesson lesson_of(const fs::path& root) {
  Lesson lesson;
  lesson.number = 1;
  lesson.name = "add";
  lesson.root = root;
  lesson.entries = {"add"};
  return lesson;
}

/// What is advised for the first error of the output.
Advice advice_for(const std::string& output, const std::string& source = kCode) {
  const StudentCode code(source);
  const auto errors = parse_compile_errors(output, "a.cu", "/course", code.last_line());
  REQUIRE_FALSE(errors.empty());
  return advise(errors.front(), code, lesson_of("/course"));
}

struct Message {
  const char* compiler;
  const char* output;
  const char* rule;
};

}  // namespace

TEST_CASE("the words of each compiler are understood", "[cli][compile_advice]") {
  const Message message = GENERATE(values<Message>({
      {"clang 14", "a.cu:8:20: error: expected ';' after expression\n", "missing_semicolon"},
      {"clang 14", "a.cu:12:3: error: void function 'add_kernel' should not return a value [-Wreturn-type]\n",
       "kernel_returns"},
      {"clang 14", "a.cu:20:3: error: no matching function for call to 'min'\n", "mixed_types"},
      {"clang 14", "a.cu:16:60: error: no matching function for call to 'add_kernel'\n", "launch_arguments"},
      {"clang 14",
       "a.cu:6:41: error: invalid operands to binary expression ('unsigned int' and 'const uint3')\n",
       "axis_missing"},
      {"clang 14", "a.cu:11:19: error: no member named 'X' in 'dim3'\n", "axis_misspelt"},
      {"clang 14", "a.cu:11:8: error: read-only variable is not assignable\n", "write_to_const"},
      {"clang 14", "a.cu:15:32: error: function definition is not allowed here\n", "none"},
      {"clang 14",
       "a.cu:10:20: error: variable length array declaration cannot have 'static' storage duration\n",
       "shared_size"},
      {"clang 14", "a.cu:17:14: error: no matching function for call to 'cudaMalloc'\n", "call_form"},
      {"clang 14", "a.cu:18:8: error: no member named 'vector' in namespace 'std'\n", "missing_include"},
      {"clang 14",
       "a.cu:19:13: error: invalid operands to binary expression ('void (const float *, float *, int)' "
       "and 'int')\n",
       "launch_brackets"},
      {"clang 14", "a.cu:1:10: fatal error: 'ad.hpp' file not found\n", "wrong_header"},
      {"clang 14", "a.cu:17:3: error: use of undeclared identifier 'CUDA_CHECK'\n", "missing_include"},
      {"clang 14", "a.cu:17:25: error: use of undeclared identifier 'pp'\n", "unknown_name"},
      {"clang 17",
       "a.cu:10:25: error: variable length arrays are not supported; variable length array "
       "declaration cannot have 'static' storage duration\n",
       "shared_size"},
      {"g++ 13", "a.cu:8:20: error: expected ';' before '}' token\n", "missing_semicolon"},
      {"g++ 13",
       "a.cu:12:10: error: return-statement with a value, in function returning 'void' "
       "[-fpermissive]\n",
       "kernel_returns"},
      {"g++ 14",
       "a.cu:11:8: error: assignment of read-only location '*(x + ((sizetype)(((long unsigned int)i) * "
       "4)))'\n",
       "write_to_const"},
      {"g++ 14",
       "a.cu:6:41: error: no match for 'operator+' (operand types are 'unsigned int' and 'const "
       "uint3')\n",
       "axis_missing"},
      {"g++ 14",
       "a.cu:18:8: error: 'vector' is not a member of 'std'\na.cu:1:1: note: 'std::vector' is defined in "
       "header '<vector>'; this is probably fixable by adding '#include <vector>'\n",
       "missing_include"},
      {"g++ 14",
       "a.cu:16:3: error: could not convert 'simt_args#0' from 'View<float>' to 'View<const float>'\n",
       "launch_arguments"},
      {"nvcc 12", "a.cu(9): error: expected a \";\"\n    }\n    ^\n\n", "missing_semicolon"},
      {"nvcc 12", "a.cu(17): error: identifier \"CUDA_CHECK\" is undefined\n", "missing_include"},
      {"nvcc 12", "a.cu(12): error: return value type does not match the function type\n", "kernel_returns"},
      {"nvcc 12",
       "a.cu(6): error: no operator \"+\" matches these operands\n            operand types are: unsigned "
       "int + const uint3\n",
       "axis_missing"},
      {"nvcc 13", "a.cu(11): error: class \"dim3\" has no member \"X\"\n", "axis_misspelt"},
      {"nvcc 13", "a.cu(10): error: a variable length array cannot have static storage duration\n",
       "shared_size"},
      {"nvcc 13", "a.cu(16): error: too few arguments in function call\n", "launch_arguments"},
      {"nvcc 13", "a.cu(5): error: a __global__ function must have a void return type\n", "kernel_returns"},
      {"nvcc 13",
       "a.cu(17): error: no instance of overloaded function \"cudaMalloc\" matches the argument list\n"
       "            argument types are: (float *, int)\n",
       "call_form"},
      {"nvcc 13",
       "a.cu(16): error: no suitable constructor exists to convert from \"const float *\" to \"dim3\"\n",
       "launch_configuration"},
      {"nvcc 13",
       "a.cu(17): error: calling a __device__ function(\"course::twice(float)\") from a __host__ "
       "function(\"add\") is not allowed\n",
       "device_code_on_host"},
      {"nvcc 13",
       "a.cu(11): error: calling a constexpr __host__ function(\"max\") from a __global__ "
       "function(\"add_kernel\") is not allowed. The experimental flag '--expt-relaxed-constexpr' can be "
       "used to allow this.\n",
       "host_code_in_kernel"},
      {"nvcc 13", "a.cu(11): error: identifier \"course::table\" is undefined in device code\n",
       "host_variable_in_kernel"},
      {"nvcc 13",
       "a.cu(7): error: a value of type \"const float *\" cannot be used to initialize an entity of type "
       "\"float *\"\n",
       "const_dropped"},
      {"g++ 13", "a.cu:15:6: error: ambiguating new declaration of 'int course::add(const float*, int)'\n",
       "other_declaration"},
      {"EDG", "a.cu(1): catastrophic error: cannot open source file \"ad.hpp\"\n", "wrong_header"},
  }));
  INFO(message.compiler << ": " << message.output);
  const Advice advice = advice_for(message.output);
  CHECK((advice.rule.empty() ? "none" : advice.rule) == message.rule);
  CHECK(advice.sentence.empty() == advice.rule.empty());
}

TEST_CASE("a semicolon is missing where its statement ends, not where the compiler noticed",
          "[cli][compile_advice]") {
  const std::string expected = "The statement on line 8 needs a ';' at its end.";
  CHECK(advice_for("a.cu:8:20: error: expected ';' before '}' token\n").sentence == expected);
  CHECK(advice_for("a.cu:9:3: error: expected ',' or ';' before '}' token\n").sentence == expected);
  CHECK(advice_for("a.cu(9): error: expected a \";\"\n    }\n    ^\n").sentence == expected);
  CHECK(advice_for("a.cu:2:8: error: expected ';' before 'y'\n", "int x;\nint x  y;\n").sentence ==
        "Something is missing on line 2: an operator such as '*', or the ';' that ends a statement.");
}

TEST_CASE("a name that the compiler guesses well is not guessed again", "[cli][compile_advice]") {
  const Advice good =
      advice_for("a.cu:6:43: error: 'threadIDx' was not declared in this scope; did you mean 'threadIdx'?\n");
  CHECK(good.rule == "misspelt_name");
  CHECK(good.sentence.empty());
  const Advice bad =
      advice_for("a.cu:5:1: error: '_global_' does not name a type; did you mean '__locale_t'?\n");
  CHECK_THAT(bad.sentence, ContainsSubstring("is __global__ meant?"));
}

TEST_CASE("comments and literals are no code", "[cli][compile_advice]") {
  const StudentCode code(
      "// {\n/* } { */ const char* s = \"{'\"; char c = '{';\n#define X {\nint n = 1'000;\n");
  CHECK(code.blocks().empty());
  CHECK(code.surplus_brace() == 0);
  CHECK(code.last_line() == 4);
}

TEST_CASE("functions are found with their parameters and lines", "[cli][compile_advice]") {
  const StudentCode code(
      "namespace course {\n"
      "template <int N>\n"
      "__global__ void __launch_bounds__(256)\n"
      "    k(const float* x,\n"
      "      int n) {\n"
      "  if (n > 0) { x[0]; }\n"
      "}\n"
      "struct Array {\n"
      "  int size() const { return 1; }\n"
      "};\n"
      "}\n");
  const Block* const kernel = code.function_around(6);
  REQUIRE(kernel != nullptr);
  CHECK(kernel->name == "k");
  CHECK(kernel->kernel);
  CHECK(kernel->parameters == "(const float* x, int n)");
  CHECK(kernel->head_line == 2);
  CHECK(kernel->close_line == 7);
  REQUIRE(code.function_around(9) != nullptr);
  CHECK(code.function_around(9)->name == "size");
  CHECK(code.function_around(8) == nullptr);
  CHECK(code.line_before(11) == 10);
}

TEST_CASE("anything at all may be asked about", "[cli][compile_advice]") {
  const std::string source = GENERATE(as<std::string>{}, "", "}", "{", "(((", "\"", "'", "/*", "#", "<<<",
                                      "f<<<", ")]}", "x[", "namespace", "\xff\xfe", "= = ++", "a.b.c[0](");
  const std::string text = GENERATE(
      as<std::string>{}, "expected ';' before '}' token", "expected a \"(\"", "read-only location ''",
      "'x' was not declared in this scope", "too few arguments in function call", "expected a \";\"", "isn't",
      "", "identifier \"\" is undefined", "redefinition of 'x'", "expected '}' at end of input");
  for (const int line : {0, 1, 2, 99}) {
    const CompileError error{"a.cu", line, 1, text, {"  x", "  ^"}, "x", false};
    const Advice advice = advise(error, StudentCode(source), Lesson{});
    INFO(source << " / " << text << " / " << advice.sentence);
    CHECK(advice.sentence.size() < 300);
  }
}

TEST_CASE("the page about the grader lists the slips that are explained", "[cli][compile_advice]") {
  std::ifstream page(std::filesystem::path(COURSE_PROJECT) / "docs/grader.md");
  std::vector<std::string> listed, known;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("#")) inside = line == "### Slips that are explained";
    if (inside && line.starts_with("- ")) listed.push_back(line.substr(2));
  }
  for (const AdviceSummary& rule : advice_summaries()) known.emplace_back(rule.slip);
  CHECK(listed == known);
}
