#include "grading/build/compiler_messages.hpp"

#include <filesystem>

#include "grading/base/subprocess.hpp"
#include "grading/build/compile_errors.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A project of one lesson whose file is lessons/01_add/add.cu.
struct Project {
  ScratchFolder folder{fs::temp_directory_path()};
  Lesson lesson;

  explicit Project(const std::string& code = "") {
    lesson.number = 1;
    lesson.name = "add";
    lesson.root = folder.path();
    lesson.entries = {"add"};
    fs::create_directories(lesson.folder());
    write_file_atomically(
        lesson.contract(),
        "namespace course {\n/// add(x) adds.\nvoid add(const float* x,\n         int n);\n}\n");
    write_file_atomically(lesson.stub(), code);
  }

  std::string explain(const std::string& output) const {
    return explain_compiler_output(output, lesson, "lessons/01_add/add.cu");
  }
};

}  // namespace

TEST_CASE("an error of g++ keeps its place and gets its line", "[cli][messages]") {
  const Project project("int a;\nint b = c;\n");
  const std::string text = project.explain(
      "lessons/01_add/add.cu: In function 'void f()':\n"
      "lessons/01_add/add.cu:2:9: error: 'c' was not declared in this scope\n"
      "    2 | int b = c;\n"
      "      |         ^\n");
  CHECK(text ==
        "lessons/01_add/add.cu:2: 'c' was not declared in this scope\n  2 | int b = c;\n"
        "Nothing above line 2 declares c: check its spelling, or declare it.");
}

TEST_CASE("of errors without end, the first are read", "[cli][messages]") {
  // A text of static_assert may have lines, and macros make 20,000 of one.
  const Project project("int a;\n" + std::string(900'000, '\n'));
  const auto with_errors = [&](int last) {
    std::string output;
    for (int line = 1; line <= last; ++line)
      output += "lessons/01_add/add.cu:" + std::to_string(line) + ": error: x\n";
    return project.explain(output);
  };
  CHECK_THAT(with_errors(99), ContainsSubstring("\nand 94 more errors"));
  CHECK_THAT(with_errors(20'000), ContainsSubstring("\nand at least 95 more errors"));
  std::string unlike;
  for (int i = 0; i < 20'000; ++i) unlike += "undefined reference to `f" + std::to_string(i) + "'\n";
  CHECK(parse_undefined_symbols(unlike).size() == kMostErrors);
}

TEST_CASE("advice on a header has no line 0", "[cli][messages]") {
  const Project project("int a;\n");
  for (const char* error : {"'c' was not declared in this scope", "redefinition of 'int c'"}) {
    const std::string text =
        project.explain("common/device/view.hpp:7:9: error: " + std::string(error) + "\n");
    CHECK_THAT(text, ContainsSubstring("view.hpp:7"));
    CHECK(text.find("line 0") == std::string::npos);
    CHECK(text.find("Line 0") == std::string::npos);
  }
}

TEST_CASE("an absolute path into the project becomes relative", "[cli][messages]") {
  const Project project("int b = c;\n");
  CHECK_THAT(project.explain(project.lesson.stub().string() + ":1:9: error: no\n"),
             ContainsSubstring("lessons/01_add/add.cu:1: no"));
}

TEST_CASE("a file that #line names is not quoted unless it is the project's", "[cli][messages]") {
  const Project project("int b = c;\n");
  const ScratchFolder elsewhere(fs::temp_directory_path());
  const fs::path secret = elsewhere.path() / "secret.txt", link = project.lesson.folder() / "link.txt";
  write_file_atomically(secret, "a secret\n");
  fs::create_symlink(secret, link);
  for (const std::string& named :
       {secret.string(), link.string(), std::string("/dev/zero"),
        "lessons/01_add/../../../" + elsewhere.path().filename().string() + "/secret.txt"}) {
    INFO(named);
    const std::string text = project.explain(named + ":1:2: error: read this\n");
    CHECK_THAT(text, ContainsSubstring("read this"));
    CHECK_THAT(text, !ContainsSubstring("a secret"));
    CHECK_THAT(text, !ContainsSubstring(" | "));
  }
}

TEST_CASE("an error inside a template is told where the student's file uses it", "[cli][messages]") {
  const Project project("\n\nsort(x);\n");
  const std::string text = project.explain(
      "In file included from /usr/include/c++/12/algorithm:61,\n"
      "                 from lessons/01_add/add.cu:1:\n"
      "/usr/include/c++/12/bits/predefined_ops.h: In instantiation of 'bool f(A, B) [with A = X]':\n"
      "/usr/include/c++/12/bits/stl_algo.h:1842:14:   required from 'void g(A, B) [with A = X]'\n"
      "lessons/01_add/add.cu:3:5:   required from here\n"
      "/usr/include/c++/12/bits/predefined_ops.h:45:23: error: no match for 'operator<'\n");
  CHECK(text == "lessons/01_add/add.cu:3: no match for 'operator<'\n  3 | sort(x);");
}

TEST_CASE("the student's own file comes first, and the same error once", "[cli][messages]") {
  const Project project("int a;\n");
  const std::string text = project.explain(
      "common/device/x.hpp:7:1: error: there\n"
      "lessons/01_add/add.cu:1:1: error: here\n"
      "lessons/01_add/add.cu:1:9: error: here\n");
  CHECK(text == "lessons/01_add/add.cu:1: here\n  1 | int a;\ncommon/device/x.hpp:7: there");
}

TEST_CASE("only the first errors are shown", "[cli][messages]") {
  std::string output;
  for (int i = 1; i <= 9; ++i) output += "lessons/01_add/add.cu:" + std::to_string(i) + ":1: error: e\n";
  CHECK_THAT(Project().explain(output), ContainsSubstring("and 4 more errors"));
}

TEST_CASE("reads nvcc's way to write places", "[cli][messages]") {
  const Project project("int a;\n");
  CHECK_THAT(
      project.explain("lessons/01_add/add.cu(1): error: identifier \"b\" is undefined\n\n1 error detected\n"),
      ContainsSubstring("lessons/01_add/add.cu:1: identifier \"b\" is undefined"));
}

TEST_CASE("a function of the contract that is missing is named as it is declared", "[cli][messages]") {
  const std::string expected =
      "add.cu does not define course::add(const float* x, int n) as lessons/01_add/add.hpp declares it.";
  for (const std::string line :
       {"entries.cpp:(.text+0x5): undefined reference to `course::add(float const*, int)'\n",
        "ld.lld: error: undefined symbol: course::add(float const*, int)\n"}) {
    CHECK(Project().explain(line + "collect2: error: ld returned 1 exit status\n") == expected);
  }
}

TEST_CASE("a function with other parameters or in no namespace is pointed out", "[cli][messages]") {
  const std::string line = "x.o: undefined reference to `course::add(float const*, int)'\n";
  CHECK_THAT(Project("// add(int) is here\nvoid add(const float* x) {}\n").explain(line),
             ContainsSubstring("It has add(const float* x) instead."));
  CHECK_THAT(Project("void add(const float* x, int n) {}\n").explain(line),
             ContainsSubstring("not in namespace course"));
}

TEST_CASE("a function whose name is misspelt is pointed out, and a call is no definition",
          "[cli][messages]") {
  const std::string line = "x.o: undefined reference to `course::add(float const*, int)'\n";
  CHECK_THAT(Project("namespace course {\nvoid ad(const float* x, int n) {}\n}\n").explain(line),
             ContainsSubstring("It has ad(const float* x, int n) instead."));
  CHECK_THAT(Project("namespace course {\nvoid other(int n) { add(nullptr, n); }\n}\n").explain(line),
             !ContainsSubstring("instead"));
}

TEST_CASE("only the first error is explained", "[cli][messages]") {
  const Project project("int f() {\n  return x\n}\n");
  const std::string text = project.explain(
      "lessons/01_add/add.cu:2:11: error: expected ';' before '}' token\n"
      "lessons/01_add/add.cu:2:10: error: 'x' was not declared in this scope\n");
  CHECK(text ==
        "lessons/01_add/add.cu:2: expected ';' before '}' token\n  2 |   return x\n"
        "The statement on line 2 needs a ';' at its end.\n"
        "lessons/01_add/add.cu:2: 'x' was not declared in this scope\n  2 |   return x");
}

TEST_CASE("what only follows from an error is left out", "[cli][messages]") {
  const Project project("int a = f(1), b = 2;\nint c = b;\nint d = e;\n");
  const std::string text = project.explain(
      "lessons/01_add/add.cu:1:9: error: 'f' was not declared in this scope\n"
      "lessons/01_add/add.cu:2:9: error: 'b' was not declared in this scope\n");
  CHECK_THAT(text, ContainsSubstring("'b' was not declared"));  // g++ knows b after an unknown name
  const std::string of_call = project.explain(
      "lessons/01_add/add.cu:1:9: error: call of overloaded 'f(int)' is ambiguous\n"
      "lessons/01_add/add.cu:2:9: error: 'b' was not declared in this scope\n"
      "lessons/01_add/add.cu:3:9: error: 'e' was not declared in this scope\n");
  CHECK_THAT(of_call,
             !ContainsSubstring("'b' was not declared") && ContainsSubstring("'e' was not declared"));
  const std::string of_lambda = project.explain(
      "lessons/01_add/add.cu:1:9: error: 'a' is not captured\n"
      "lessons/01_add/add.cu:2:9: error: could not convert 'g::<lambda(int)>' to 'int'\n");
  CHECK_THAT(of_lambda, !ContainsSubstring("could not convert"));
}

TEST_CASE("what the simulator leaves out is told first, and what to do instead", "[cli][messages]") {
  const Project project("__global__ void k(cudaTextureObject_t t) {}\n");
  const auto said = [&](const std::string& error) {
    return project.explain(
        "lessons/01_add/add.cu:1:17: error: variable or field 'k' declared void\n"
        "lessons/01_add/add.cu:1:19: error: " +
        error + "\n");
  };
  struct Case {
    const char *error, *sentence;
  };
  for (const Case& known : {
           Case{"'cudaTextureObject_t' was not declared in this scope",
                "cudaTextureObject_t is part of texture memory, which the simulator does not have. Let the "
                "kernel read the array through a pointer."},
           Case{"'cudaReadModeElementType' was not declared in this scope", "is part of texture memory"},
           Case{"'cudaSurfaceObject_t' was not declared in this scope", "is part of surface memory"},
           Case{"'cudaGraph_t' was not declared in this scope", "Launch the kernels one by one in a stream."},
           Case{"'cublasStrsm' was not declared in this scope",
                "cublasStrsm is part of cuBLAS's triangular,"},
           Case{"'cudaMemcpyPeer' was not declared in this scope", "Use device 0 alone."},
           Case{"'CUmodule' was not declared in this scope", "Use the runtime API of cuda_runtime.h."},
           Case{"'cub::DeviceReduce' has not been declared",
                "cub::DeviceReduce is a part of CUB which the simulator does not have."},
           Case{"'reduce_by_key' is not a member of 'thrust'",
                "thrust::reduce_by_key is a part of Thrust which the simulator does not have."},
           Case{"'BlockRadixSort' in namespace 'cub' does not name a template type",
                "cub::BlockRadixSort is a part of CUB which the simulator does not have."},
           Case{"'this_cluster' is not a member of 'cg'", "this_cluster is part of thread block clusters"},
       }) {
    CAPTURE(known.error);
    const std::string text = said(known.error);
    CHECK_THAT(text, ContainsSubstring(known.sentence));
    CHECK(text.find(known.sentence) < text.find("declared void"));
  }
}

TEST_CASE("the end of the source, for nvcc, is its last line with code", "[cli][messages]") {
  const Project project("namespace course {\nvoid f() {}\n\n// the end\n");
  CHECK(project.explain("At end of source: error: expected a \"}\"\n\n1 error detected\n") ==
        "lessons/01_add/add.cu:2: expected a \"}\"\n  2 | void f() {}\n"
        "The '{' on line 1 has no '}': that one is missing, or a block further down lacks its own and took "
        "it.");
}

TEST_CASE("messages show neither options nor what the compiler made of the line", "[cli][messages]") {
  const Project project("x[i] = 0;\n");
  CHECK_THAT(project.explain("lessons/01_add/add.cu:1:6: error: assignment of read-only location '*(x + "
                             "((sizetype)(i * 4)))'\n"),
             ContainsSubstring("add.cu:1: assignment of read-only location\n"));
  CHECK_THAT(project.explain(
                 "lessons/01_add/add.cu:1:6: error: invalid conversion from 'a' to 'b' [-fpermissive]\n"),
             ContainsSubstring("add.cu:1: invalid conversion from 'a' to 'b'\n"));
  CHECK(project.explain("ptxas fatal   : Unresolved extern function '_ZN6course6helperEf'\n") ==
        "add.cu uses course::helper(float), which is declared but defined nowhere.");
}

TEST_CASE("what the rewriter refuses gets its line", "[cli][messages]") {
  CHECK(Project("k(x);\n").explain("lessons/01_add/add.cu:1: 'k' is a kernel: launch it.\n") ==
        "lessons/01_add/add.cu:1: 'k' is a kernel: launch it.\n  1 | k(x);");
}

TEST_CASE("a file that is longer than any kernel gets no advice", "[cli][messages]") {
  const std::string output = "lessons/01_add/add.cu:1:5: error: expected ';' before '}' token\n";
  CHECK_THAT(Project("int x\n" + std::string(65536, ' ')).explain(output), !ContainsSubstring("needs a ';'"));
  CHECK_THAT(Project("int x\n").explain(output), ContainsSubstring("needs a ';'"));
}

TEST_CASE("another missing function is named", "[cli][messages]") {
  CHECK(Project().explain("x.o: undefined reference to `helper(int)'\n") ==
        "add.cu uses helper(int), which is declared but defined nowhere.");
}

TEST_CASE("output of an unknown kind is shown by its end", "[cli][messages]") {
  CHECK(Project().explain("nvcc fatal : Unsupported gpu architecture\n") ==
        "nvcc fatal : Unsupported gpu architecture");
  CHECK(Project().explain("") == "The compiler failed without a message.");
}
