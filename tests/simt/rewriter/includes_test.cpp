// The tool: which headers are copied, how includes are redirected, the depfile, exit statuses.

#include <sys/wait.h>

#include <cstdlib>

#include "simt/rewriter/includes.hpp"
#include "support.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using course::test::TemporaryFolder;
using simt::test::read, simt::test::write;

namespace {

/// A source folder `in`, a folder of headers `inc`, a folder for what is made `out`.
struct Project {
  TemporaryFolder folder;
  fs::path in = folder / "in", inc = folder / "inc", out = folder / "out";

  Project() { fs::create_directories(out); }

  std::vector<fs::path> rewrite() const {
    return simt::rewrite_file({.source = in / "a.cu", .output = out / "a.cpp", .include_dirs = {inc}});
  }
  std::string result() const { return read(out / "a.cpp"); }
  static std::string line_directive(const fs::path& path) { return "#line 1 \"" + path.string() + "\"\n"; }
};

constexpr const char* kShared = "extern __shared__ float s[];\n";

int run_tool(const std::string& arguments, const fs::path& log) {
  const std::string command = "'" SIMT_REWRITE_TOOL "' " + arguments + " >'" + log.string() + "' 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("headers without CUDA stay where they are", "[rewriter][includes]") {
  const Project project;
  const std::string source =
      "#include \"b.hpp\"\n#include \"c.hpp\"\n#include <d.hpp>\n#include \"missing.hpp\"\n";
  write(project.in / "a.cu", source);
  write(project.in / "b.hpp", "int b;\n");
  write(project.inc / "c.hpp", "#include \"b.hpp\"\nint c;\n");
  const auto dependencies = project.rewrite();
  CHECK(project.result() == project.line_directive(project.in / "a.cu") + source);
  CHECK(dependencies ==
        std::vector<fs::path>{project.in / "a.cu", project.in / "b.hpp", project.inc / "c.hpp"});
  CHECK(std::distance(fs::directory_iterator(project.out), fs::directory_iterator()) == 1);
}

TEST_CASE("CUDA's headers come before the first line of a file whose lines are its own",
          "[rewriter][includes]") {
  const Project project;
  const fs::path own = project.folder / "own";
  const std::string source =
      "#define sync() 0\n#include <mma.h>\n#include \"b.hpp\"\n#include <../in/a.cu>\n";
  write(project.in / "a.cu", source);
  write(project.in / "b.hpp", "#pragma once\n#include \"cuda/barrier\"\n#include <mma.h>\n");
  write(own / "mma.h", "");
  write(own / "cuda/barrier", "");
  for (const bool own_lines : {false, true}) {
    simt::rewrite_file({.source = project.in / "a.cu",
                        .output = project.out / "a.cpp",
                        .include_dirs = {},
                        .own_headers = own,
                        .own_lines = own_lines});
    CHECK(project.result() == (own_lines ? "#include <mma.h>\n#include <cuda/barrier>\n" : "") +
                                  project.line_directive(project.in / "a.cu") + source);
  }
}

TEST_CASE("a function for the host alone is refused unless another file may overload it",
          "[rewriter][includes]") {
  const Project project;
  const std::string call =
      "float dot(float x) { return x; }\n__global__ void k(float* x) { x[0] = dot(x[0]); }\n";
  write(project.in / "a.cu", "#include \"b.cuh\"\n" + call);
  write(project.in / "b.cuh", "__device__ float dots(float x);\nfloat dot;\n");
  CHECK_THROWS_WITH(project.rewrite(), ContainsSubstring("dot is for the host alone"));
  write(project.in / "b.cuh", "__device__ float dot(double x);\n");
  CHECK_NOTHROW(project.rewrite());
  // The other way round: the header has the host's, and is read on its own.
  write(project.in / "a.cu", "#include \"b.cuh\"\n__device__ float dot(double x);\n");
  write(project.in / "b.cuh", call);
  CHECK_NOTHROW(project.rewrite());
  // And CUDA's own headers.
  write(project.in / "a.cu", call);
  write(project.folder / "cuda/math.h", "__device__ int dot (int);\n");
  CHECK_THROWS_WITH(project.rewrite(), ContainsSubstring("dot is for the host alone"));
  CHECK_NOTHROW(simt::rewrite_file({.source = project.in / "a.cu",
                                    .output = project.out / "a.cpp",
                                    .include_dirs = {},
                                    .own_headers = project.folder / "cuda"}));
}

TEST_CASE("functions without __device__ end a kernel that calls them, where that is asked for",
          "[rewriter][includes]") {
  const Project project;
  const auto guarded = [&](const std::string& source) {
    write(project.in / "a.cu", source + "\n__global__ void k();\n");
    simt::rewrite_file({.source = project.in / "a.cu",
                        .output = project.out / "a.cpp",
                        .include_dirs = {},
                        .guards_host = true});
    const std::string header = Project::line_directive(project.in / "a.cu"), result = project.result();
    return result.substr(header.size(), result.rfind("\n__global__") - header.size());
  };
  const auto guard = [](const std::string& name) {
    return " ::simt::host_function(\"" + name + ", which has no __device__\");";
  };
  CHECK(guarded("float f(float x) { return x; }") == "float f(float x) {" + guard("f()") + " return x; }");
  CHECK(guarded("template <class T> T f(T x) { return x; }") ==
        "template <class T> T f(T x) {" + guard("f()") + " return x; }");
  CHECK(guarded("struct S { virtual int v() const { return 7; } };") ==
        "struct S { virtual int v() const {" + guard("v()") + " return 7; } };");
  CHECK(guarded("void f() { g([=](int i) mutable -> int { return i; }, a[1]); }") ==
        "void f() {" + guard("f()") + " g([=](int i) mutable -> int {" + guard("a lambda") +
            " return i; }, a[1]); }");
  CHECK(guarded("void f(int);\nvoid f(int n) { k<<<n, 1>>>(); }").find(guard("f()")) != std::string::npos);
  const std::string left_alone = GENERATE(
      as<std::string>{}, "__device__ float f(float x) { return x; }",
      "__host__ __device__ float f() { return 1; }", "HD float f(float x) { return x; }",
      "constexpr float f(float x) { return x; }",
      "__device__ float f(float x);\nfloat f(float x) { return x; }", "float S::f(float x) { return x; }",
      "struct S { S() : x{1} { } int x; };", "struct S { bool operator==(const S&) const { return true; } };",
      "struct S { constexpr int f() const { return 1; } __device__ int g() { return 2; } };",
      "__global__ void k(int* x) { auto f = [](int i) { return i; }; struct S { int g() { return 2; } }; }",
      "__host__ __device__ void f() { auto g = [](int i) { return i; }; }", "int a[] = {1, 2};",
      "TEST_CASE(\"x\") { g([] { }); }", "enum E { A, B };");
  CAPTURE(left_alone);
  const std::string result = guarded(left_alone);
  CHECK(result.find("host_function") == std::string::npos);
}

TEST_CASE("a header with CUDA is copied beside the output, and its include names the copy",
          "[rewriter][includes]") {
  const Project project;
  write(project.in / "a.cu", "#include /* why */ \"sub/b.cuh\" // b\nk<<<1, 2>>>();\n");
  write(project.in / "sub/b.cuh", kShared);
  project.rewrite();
  CHECK_THAT(project.result(),
             ContainsSubstring("#include /* why */ \"a.cpp.1.b.cuh\" // b\n::simt::launch("));
  CHECK(read(project.out / "a.cpp.1.b.cuh") ==
        project.line_directive(project.in / "sub/b.cuh") +
            "static thread_local float* const s SIMT_DYNAMIC_LABEL = ::simt::dynamic_shared<float>();\n");
}

TEST_CASE("a header that includes a copied header is copied, too", "[rewriter][includes]") {
  const Project project;
  write(project.in / "a.cu", "#include \"b.hpp\"\n#include \"c.cuh\"\n");
  write(project.in / "b.hpp", "#include \"c.cuh\"\n");
  write(project.inc / "c.cuh", kShared);
  const auto dependencies = project.rewrite();
  CHECK_THAT(project.result(), ContainsSubstring("#include \"a.cpp.1.b.hpp\"\n#include \"a.cpp.2.c.cuh\"\n"));
  CHECK_THAT(read(project.out / "a.cpp.1.b.hpp"), ContainsSubstring("#include \"a.cpp.2.c.cuh\"\n"));
  CHECK(dependencies.size() == 3);
}

TEST_CASE("a copy still finds what lies beside its original", "[rewriter][includes]") {
  const Project project;
  write(project.in / "a.cu", "#include \"sub/b.cuh\"\n");
  write(project.in / "sub/b.cuh", "#include \"plain.hpp\"\n#include \"c.hpp\"\n" + std::string(kShared));
  write(project.in / "sub/plain.hpp", "int plain;\n");
  write(project.inc / "c.hpp", "int c;\n");
  project.rewrite();
  CHECK_THAT(read(project.out / "a.cpp.1.b.cuh"),
             ContainsSubstring("#include \"" + (project.in / "sub/plain.hpp").string() +
                               "\"\n#include \"c.hpp\"\n"));
}

TEST_CASE("headers that include each other come to an end", "[rewriter][includes]") {
  const Project project;
  write(project.in / "a.cu", "#include \"b.cuh\"\n#include \"a.cu\"\n");
  write(project.in / "b.cuh", "#pragma once\n#include \"c.cuh\"\n");
  write(project.in / "c.cuh",
        "#pragma once\n#include \"b.cuh\"\n#include \"./c.cuh\"\n" + std::string(kShared));
  CHECK(project.rewrite().size() == 3);
  CHECK_THAT(read(project.out / "a.cpp.1.b.cuh"), ContainsSubstring("#include \"a.cpp.2.c.cuh\""));
  CHECK_THAT(read(project.out / "a.cpp.2.c.cuh"),
             ContainsSubstring("#include \"a.cpp.1.b.cuh\"\n#include \"a.cpp.2.c.cuh\""));
}

TEST_CASE("an include in code that is never compiled is not followed", "[rewriter][includes]") {
  const Project project;
  write(project.in / "a.cu", "#ifdef __CUDA_ARCH__\n#include \"b.cuh\"\n#endif\n// #include \"b.cuh\"\n");
  write(project.in / "b.cuh", "asm(\"trap;\");\n");
  CHECK(project.rewrite().size() == 1);
}

TEST_CASE("an error in a header names the header", "[rewriter][includes]") {
  const Project project;
  write(project.in / "a.cu", "#include \"b.cuh\"\n");
  write(project.in / "b.cuh", "\n__shared__ int x = 1;\n");
  try {
    project.rewrite();
    FAIL("not refused");
  } catch (const simt::RewriteError& error) {
    CHECK(error.file == (project.in / "b.cuh").string());
    CHECK(error.line == 2);
  }
  CHECK(fs::is_empty(project.out));
}

TEST_CASE("a file that cannot be read or written is named", "[rewriter][includes]") {
  const Project project;
  CHECK_THROWS_WITH(project.rewrite(), ContainsSubstring("cannot read " + (project.in / "a.cu").string()));
  write(project.in / "a.cu", "");
  CHECK_NOTHROW(project.rewrite());
  CHECK_THROWS_WITH(
      simt::rewrite_file({.source = project.in, .output = project.out / "a.cpp", .include_dirs = {}}),
      ContainsSubstring("cannot read " + project.in.string()));
  CHECK_THROWS_WITH(
      simt::rewrite_file(
          {.source = project.in / "a.cu", .output = project.out / "none/a.cpp", .include_dirs = {}}),
      ContainsSubstring("cannot write " + (project.out / "none/a.cpp").string()));
}

TEST_CASE("the depfile lists what was read, escaped for make", "[rewriter][includes]") {
  const TemporaryFolder folder;
  simt::write_depfile(folder / "d", "out dir/a.cpp", {"a b.cu", "c$d#e.hpp"});
  CHECK(read(folder / "d") == "out\\ dir/a.cpp: \\\n  a\\ b.cu \\\n  c$$d\\#e.hpp\n");
}

TEST_CASE("simt-rewrite writes its output and a depfile", "[rewriter][tool]") {
  const Project project;
  write(project.in / "a.cu", "#include \"b.cuh\"\n");
  write(project.inc / "b.cuh", kShared);
  const fs::path log = project.folder / "log";
  const std::string paths = project.in.string() + "/a.cu -o " + project.out.string() + "/a.cpp --depfile " +
                            project.out.string() + "/a.d ";
  CHECK(run_tool(paths + "-I /nowhere -I " + project.inc.string(), log) == 0);
  CHECK(read(log).empty());
  CHECK_THAT(project.result(), ContainsSubstring("#include \"a.cpp.1.b.cuh\""));
  CHECK(read(project.out / "a.d") == project.out.string() + "/a.cpp: \\\n  " + project.in.string() +
                                         "/a.cu \\\n  " + project.inc.string() + "/b.cuh\n");
  CHECK(run_tool(paths + "-I" + project.inc.string(), log) == 0);
}

TEST_CASE("simt-rewrite says what is wrong and exits with 1", "[rewriter][tool]") {
  const Project project;
  write(project.in / "a.cu", "int x;\nk<<<1>>(x);\n");
  const fs::path log = project.folder / "log";
  CHECK(run_tool(project.in.string() + "/a.cu -o " + project.out.string() + "/a.cpp", log) == 1);
  CHECK_THAT(read(log),
             Catch::Matchers::StartsWith(project.in.string() + "/a.cu:2: This '<<<' has no matching '>>>'."));
  CHECK(fs::is_empty(project.out));
}

TEST_CASE("simt-rewrite exits with 2 when it is used wrongly", "[rewriter][tool]") {
  const TemporaryFolder folder;
  const std::string arguments = GENERATE(as<std::string>{}, "", "a.cu", "-o b.cpp", "a.cu -o",
                                         "a.cu b.cu -o c.cpp", "a.cu -o b.cpp --what");
  CAPTURE(arguments);
  CHECK(run_tool(arguments, folder / "log") == 2);
  CHECK_THAT(read(folder / "log"), Catch::Matchers::StartsWith("usage: simt-rewrite IN.cu -o OUT.cpp"));
  CHECK(run_tool("--help", folder / "log") == 0);
}

TEST_CASE("includes in angle brackets are followed into the given folders", "[rewriter][includes]") {
  const Project project;
  write(project.in / "a.cu", "#include <b.cuh>\n#include <vector>\n");
  write(project.inc / "b.cuh", "k<<<1, 2>>>(x);\n");
  CHECK(project.rewrite().size() == 2);
  CHECK_THAT(project.result(),
             ContainsSubstring("#include \"a.cpp.1.b.cuh\"") && ContainsSubstring("<vector>"));
}

TEST_CASE("what the simulator has itself is found nowhere else", "[rewriter][includes]") {
  const Project project;
  write(project.in / "a.cu", "#include <cuda_runtime.h>\n");
  write(project.inc / "cuda_runtime.h", "k<<<1, 2>>>(x);\n");
  write(project.folder / "own" / "cuda_runtime.h", "");
  const auto read_files = simt::rewrite_file({.source = project.in / "a.cu",
                                              .output = project.out / "a.cpp",
                                              .include_dirs = {project.inc},
                                              .own_headers = project.folder / "own"});
  CHECK(read_files.size() == 1);
}

TEST_CASE("lines of another file are refused on request, in headers as well", "[rewriter][includes]") {
  const Project project;
  write(project.in / "a.cu", "#include \"b.hpp\"\n");
  write(project.in / "b.hpp", "int b;\n#line 7 \"c.hpp\"\n");
  simt::RewriteJob job{.source = project.in / "a.cu", .output = project.out / "a.cpp", .include_dirs = {}};
  CHECK(simt::rewrite_file(job).size() == 2);
  job.own_lines = true;
  try {
    simt::rewrite_file(job);
    FAIL("not refused");
  } catch (const simt::RewriteError& error) {
    CHECK(error.file == (project.in / "b.hpp").string());
    CHECK(error.line == 2);
    CHECK_THAT(error.message, ContainsSubstring("Leave it out"));
  }
}

TEST_CASE("a header of a library that is left out is refused by name", "[rewriter][includes]") {
  const Project project;
  write(project.in / "a.cu", "\n#include <thrust/complex.h>\n");
  write(project.inc / "thrust" / "complex.h", "");
  try {
    project.rewrite();
    FAIL("not refused");
  } catch (const simt::RewriteError& error) {
    CHECK(error.line == 2);
    CHECK(error.message ==
          "This program uses a part of Thrust (thrust/complex.h), which the simulator does not have. Compute "
          "the same in a kernel of your own, or on the host.");
  }
}
