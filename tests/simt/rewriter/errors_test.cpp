// Refusals: each names the line, says what is wrong in plain words and what to do; and none where all is
// well.

#include <algorithm>

#include "simt/rewriter/line_directive.hpp"
#include "support.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using simt::test::refusal;

TEST_CASE("an error reads file:line: message", "[rewriter][error]") {
  try {
    simt::rewrite("\n\nk<<<1, 2;\n", "vector_add.cu");
    FAIL("not refused");
  } catch (const simt::RewriteError& error) {
    CHECK(std::string(error.what()) ==
          "vector_add.cu:3: This '<<<' has no matching '>>>'. A launch looks like kernel<<<blocks, "
          "threads>>>(arguments);");
    CHECK(error.file == "vector_add.cu");
    CHECK(error.line == 3);
  }
}

TEST_CASE("a launch that is not closed is refused", "[rewriter][error]") {
  const std::string launch = GENERATE(as<std::string>{}, "k<<<1, 2(x);", "k<<<1, 2>>(x);", "k<<<1, (2>>>(x);",
                                      "{ k<<<1, 2 }", "k<<<", "k<<<1, 2 > > > (x);",
                                      "k<<<1, 2; j<<<1, 2>>>(x);", "k<<<1, j<<<1, 2>>>(x);", "k<<<1>>=(x);");
  CAPTURE(launch);
  CHECK(refusal("\n" + launch) ==
        "2: This '<<<' has no matching '>>>'. A launch looks like kernel<<<blocks, threads>>>(arguments);");
}

TEST_CASE("a launch without an argument list is refused", "[rewriter][error]") {
  CHECK_THAT(refusal("k<<<1,\n2>>>;"), StartsWith("2: The kernel's arguments are missing after '>>>'"));
  CHECK_THAT(refusal("k<<<1, 2>>> x;"), StartsWith("1: The kernel's arguments are missing"));
  CHECK_THAT(refusal("k<<<1, 2>>>(x;"),
             StartsWith("1: The '(' of this launch's argument list is never closed."));
  CHECK_THAT(refusal("k<<<1, 2>>>>(x);"), StartsWith("1: The kernel's arguments are missing"));
}

TEST_CASE("a configuration with no value or too many is refused", "[rewriter][error]") {
  CHECK_THAT(refusal("k<<<>>>(x);"), StartsWith("1: The launch configuration '<<<>>>' is empty."));
  CHECK_THAT(refusal("k<<<  /* */ >>>(x);"), StartsWith("1: The launch configuration '<<<>>>' is empty."));
  CHECK_THAT(refusal("k<<<1, 2, 3, 4, 5>>>(x);"),
             StartsWith("1: This launch configuration has 5 values; at most 4"));
  CHECK_THAT(refusal("k<<<1, , 3>>>(x);"), StartsWith("1: A value is missing beside a comma"));
  CHECK_THAT(refusal("k<<<, 2>>>(x);"), StartsWith("1: A value is missing"));
  CHECK_THAT(refusal("k<<<1, >>>(x);"), StartsWith("1: A value is missing"));
}

TEST_CASE("a launch without a kernel's name is refused", "[rewriter][error]") {
  const std::string launch = GENERATE(
      as<std::string>{}, "<<<1, 2>>>(x);", "return <<<1, 2>>>(x);", "; <<<1, 2>>>(x);", "3<<<1, 2>>>(x);",
      "}<<<1, 2>>>(x);", ">(x)<<<1, 2>>>();", "T><<<1, 2>>>(x);", ")<<<1, 2>>>(x);", "\"k\"<<<1, 2>>>(x);");
  CAPTURE(launch);
  CHECK_THAT(refusal(launch), StartsWith("1: There is no kernel name in front of '<<<'."));
}

TEST_CASE("a kernel that launches a kernel is refused", "[rewriter][error]") {
  CHECK(
      refusal("__global__ void j(int* p) {}\n__global__ void k(int* p) {\n  j<<<1, 2>>>(p);\n}") ==
      "3: A kernel launches a kernel here (CUDA calls it dynamic parallelism), which kernels of lessons may "
      "not. Launch it from host code.");
  CHECK(refusal("__device__ void f() { k<<<1, 2>>>(); }") != "");
  CHECK(refusal("__host__ __device__ void f() { k<<<1, 2>>>(); }") == "");
  CHECK(refusal("__global__ void k() {}\nvoid f() { k<<<1, 2>>>(); }") == "");
}

TEST_CASE("exceptions and type information are refused in device code", "[rewriter][error]") {
  const std::string word = GENERATE(as<std::string>{}, "try { } catch (...) { }", "throw 1;",
                                    "if (typeid(n) == typeid(int)) { }", "dynamic_cast<D*>(b);");
  CAPTURE(word);
  CHECK_THAT(refusal("__global__ void k(int n, B* b) {\n" + word + " }"),
             StartsWith("2: '") && ContainsSubstring("nvcc refuses it"));
  CHECK(refusal("__global__ void k();\n__host__ __device__ void f(int n, B* b) { " + word + " }").empty());
  CHECK(refusal("__global__ void k();\nvoid f(int n, B* b) { " + word + " }").empty());
}

TEST_CASE("what cannot be translated inside a kernel's name is refused", "[rewriter][error]") {
  CHECK_THAT(refusal("pick([] { j<<<1, 2>>>(); })<<<1, 2>>>(x);"),
             ContainsSubstring("Split this statement into two"));
  CHECK_THAT(refusal("k<R\"(a\nb)\"><<<1, 2>>>(x);"), ContainsSubstring("A string of several lines"));
  CHECK_THAT(refusal("extern __shared__ float s[][sizeof(R\"(a\nb)\")];"),
             ContainsSubstring("A string of several lines"));
}

TEST_CASE("a quote that is not closed where text is put together anew is refused", "[rewriter][error]") {
  CHECK_THAT(refusal("k<\n'a><<<1, 2>>>(x);\n><<<1, 2>>>(x);"),
             StartsWith("2: A quotation mark opens a text here"));
  CHECK_THAT(refusal("extern __shared__ float s[]['\n];"),
             StartsWith("1: A quotation mark opens a text here"));
  CHECK_THAT(refusal("k<\"\\\"\n><<<1, 2>>>(x);"), StartsWith("1: A quotation mark opens a text here"));
}

TEST_CASE("an empty asm and an assembler label are harmless", "[rewriter][error]") {
  const std::string source = GENERATE(
      as<std::string>{}, "asm volatile(\"\" ::: \"memory\");", "void f() asm(\"other_name\");", "int asm_x;",
      "struct S { int __asm__x; };", "// asm(\"trap;\")", "\"asm(\"", "#pragma asm (\"trap;\")\n");
  CAPTURE(source);
  CHECK(refusal(source) == "");
}

TEST_CASE("a kernel that returns a number is refused", "[rewriter][error]") {
  const std::string message =
      "1: A kernel is __global__ void and returns nothing. Let 'k' write its results to an array that it "
      "gets as a pointer.";
  CHECK(refusal("__global__ float k(const float* x) { return x[0]; }") == message);
  CHECK(refusal("template <int N> __global__ unsigned int k();") == message);
  CHECK(refusal("__global__ static int k(void);") == message);
  CHECK(refusal("__global__ void k(int n);").empty());
}

TEST_CASE("a kernel called like a function is refused", "[rewriter][error]") {
  const std::string kernel = GENERATE(
      as<std::string>{}, "__global__ void k(float* x) {}",
      "template <class T>\n__global__ void __launch_bounds__(256, 2) k(T* x);", "void __global__ k(int) {}",
      "static __global__ __launch_bounds__(N) void k(int);", "extern \"C\" __global__ void k(int);",
      "template <int N> __global__ [[maybe_unused]] void k();",
      "template <class T> __global__ std::enable_if_t<a<T>> k();");
  CAPTURE(kernel);
  const auto message = [](const std::string& name) {
    return "'" + name +
           "' is a kernel (__global__) and cannot be called like an ordinary function. Launch it: " + name +
           "<<<blocks, threads>>>(arguments);";
  };
  const std::string line = std::to_string(std::count(kernel.begin(), kernel.end(), '\n') + 2) + ": ";
  CHECK(refusal(kernel + "\nvoid f() { k(x); }") == line + message("k"));
  CHECK(refusal(kernel + "\nvoid f() { g(); k<int, 4>(x); }") == line + message("k<int, 4>"));
  CHECK(refusal(kernel + "\nvoid f() { if (n > 0) k(x); else k<<<1, 2>>>(x); }") == line + message("k"));
  CHECK(refusal(kernel + "\nvoid f() { for (int i = 0; i < n; ++i) k(x); }") == line + message("k"));
}

TEST_CASE("what is not plainly a call of a kernel is not refused", "[rewriter][error]") {
  const std::string source = GENERATE(
      as<std::string>{}, "void f() { k<<<1, 2>>>(x); }", "void f() { auto p = k; p(x); }",
      "void f() { s.k(x); p->k(x); S::k(x); }", "__global__ void k(float* x);",
      "template __global__ void k<int>(int);", "template <> __global__ void k<int>(int) {}",
      "struct k { k(int); };", "void k(int, int);\nvoid f() { k(1, 2); }", "void f(F k) { k(1); }",
      "void f(F&& k) { k(1); }", "auto k = [] {};\nvoid f() { k(); }",
      "void f() { attribute(k<int>); set(&k<T>, k); }", "void f() { x = k(1); return k(2); }",
      "#define k(x) j<<<1, 2>>>(x)\nvoid f() { k(1); }", "friend __global__ void k(int);",
      "void f() { std::function<void()> k; k(); }", "#ifdef __CUDA_ARCH__\nvoid f() { k(1); }\n#endif",
      "// k(1);\n", "class A { A() : k(1) {} };");
  CAPTURE(source);
  CHECK(refusal("__global__ void k(int x) {}\n" + source) == "");
}

TEST_CASE("a function for the host alone is refused in device code, and in a launch", "[rewriter][error]") {
  CHECK(refusal("float twice(float x) { return 2 * x; }\n__global__ void k(float* x) {\n  x[0] = "
                "twice(x[0]);\n}") ==
        "3: twice is for the host alone, and nvcc refuses it in a kernel: write __device__ in front of it, "
        "on line 1.");
  CHECK(refusal("namespace course {\nnamespace {\ntemplate <class T>\nstatic inline T twice(T x) { return 2 "
                "* x; }\n}\n"
                "__device__ float f(float x) { return twice<float>(x); }\n__global__ void k();\n}") ==
        "6: twice is for the host alone, and nvcc refuses it in a __device__ function: write __device__ in "
        "front of it, on line 4.");
  CHECK(refusal("void k(float* x) {}\n__global__ void j();\nvoid f(float* x) { k<<<1, 2>>>(x); }") ==
        "3: Only a kernel can be launched, and k, on line 1, has no __global__ in front.");
  CHECK(
      refusal("template <int N>\n__device__ void k(float* x) {}\nvoid f(float* x) { k<3><<<1, 2>>>(x); }") ==
      "3: Only a kernel can be launched, and k, on line 2, has no __global__ in front.");
}

TEST_CASE("a function that may be for both sides is left alone", "[rewriter][error]") {
  const std::string source =
      GENERATE(as<std::string>{}, "__device__ float f(float x) { return x; }",
               "__host__ __device__ float f(float x) { return x; }", "HD float f(float x) { return x; }",
               "#define both __host__ __device__\nboth float f(float x) { return x; }",
               "constexpr float f(float x) { return x; }", "struct S { float f(float x) { return x; } };",
               "float S::f(float x) { return x; }",
               "float f(float x) { return x; }\n__device__ float f(int x) { return x; }",
               "__device__ float f(float x);\nfloat f(float x) { return x; }",
               "template <class F> void g(F f) { f(1.0f); }", "auto f = [](float x) { return x; };");
  CAPTURE(source);
  CHECK(refusal(source + "\n__global__ void k(float* x) { x[0] = f(x[0]); }") == "");
  CHECK(refusal("float f(float x) { return x; }\n__global__ void k(S* x) { x->f(1); auto f = [](float y) { "
                "return y; }; "
                "f(2.0f); }\nfloat g() { return f(3.0f); }") == "");
  CHECK(refusal("template <class K> void f(K k) { k<<<1, 2>>>(); }\nvoid k() {}\n__global__ void j();") ==
        "");
  CHECK(refusal("void k() {}\n__global__ void j();\nvoid f() { auto k = j; k<<<1, 2>>>(); }") == "");
}

TEST_CASE("a function of std that nvcc refuses in device code is refused", "[rewriter][error]") {
  CHECK(refusal("__global__ void k(float* x) {\n  x[0] = std::max(x[1], x[2]);\n}") ==
        "2: std::max is code for the host, and nvcc refuses it in a kernel: write fmaxf(a, b) for floats, or "
        "max(a, b) without std::.");
  const std::string call = GENERATE(
      as<std::string>{}, "int m = std::min<int>(n, 2);", "static_assert(std::max(1, 2) == 2);",
      "float a[std::max(4, 5)];", "for (int i = ::std::max(0, n); i < 3; ++i) {}", "std::swap(a, b);",
      "constexpr int z = std::numeric_limits<int>::max();",
      "auto f = [&](float q) { return std::clamp(q, 0.f, 1.f); };", "std::vector<float> v(n);",
      "std::function<int(int)> f;", "std::cout << n;", "float inf = std::numeric_limits<float>::infinity();");
  CAPTURE(call);
  CHECK_THAT(
      refusal("__global__ void __launch_bounds__(256, 2) k(int n) { " + call + " }"),
      StartsWith("1: std::") && ContainsSubstring("is code for the host, and nvcc refuses it in a kernel"));
  CHECK_THAT(
      refusal("__global__ void k();\ntemplate <class T> __device__ inline T f(int n) { " + call + " }"),
      StartsWith("2: std::") && ContainsSubstring("nvcc refuses it in a __device__ function"));
  CHECK_THAT(refusal("__global__ void k();\nstruct S { __device__ float f(int n) const { " + call + " } };"),
             StartsWith("2: std::"));
}

TEST_CASE("where a '}' is missing, host code that seems to stand in a kernel is left to the compiler",
          "[rewriter][error]") {
  CHECK(refusal(
            "__global__ void k(int n) {\n  if (n > 0) {\n}\n"
            "template <class T> T f(T a, T b) { std::swap(a, b); k<<<1, 2>>>(3); return std::max(a, b); }") ==
        "");
}

TEST_CASE("what nvcc takes of std is not refused, nor is anything in host code", "[rewriter][error]") {
  const std::string source =
      GENERATE(as<std::string>{},
               "void f(int n) { n = std::max(n, 2); k<<<std::min(n, 3), 2>>>(x); std::swap(a, b); }",
               "constexpr float kInf = std::numeric_limits<float>::infinity();\n__global__ void j() { float "
               "m = -kInf; }",
               "__global__ void j(float* x) { std::int64_t i = 0; x[i] = std::abs(x[1]) + std::exp(x[2]) + "
               "std::move(x[3]); }",
               "__global__ void j(float* x) { x[0] = max(x[1], x[2]) + fmaxf(x[1], x[2]); }",
               "__host__ __device__ int f(int n) { return std::max(n, 1); }",
               "__device__ __host__ inline int f(int n) { return std::max(n, 1); }",
               "__global__ void j(int n = std::max(1, 2));\nint m = std::max(1, 2);",
               "__device__ int x;\nint m = std::max(1, 2);",
               "__global__ void j() { sort::max(1, 2); std::numeric_limits<int> limits; }",
               "#ifdef __CUDA_ARCH__\n__global__ void j() { std::max(1, 2); }\n#endif");
  CAPTURE(source);
  CHECK(refusal("__global__ void k(int x) {}\n" + source) == "");
}

TEST_CASE("long chains and deep nests of launches are survived", "[rewriter][error]") {
  std::string source;
  for (int i = 0; i < 20000; ++i) source += "k<A<1>><<<f(1, 2), b>>>(x, NULL), ";
  CHECK(refusal(source + "0;") == "");
  source.clear();
  for (int i = 0; i < 20000; ++i) source += "k<<<1, 2>>>(";
  CHECK(refusal(source) != "");
  CHECK(refusal(source + std::string(20000, ')')) == "");
}

TEST_CASE("a directive that gives a file other lines is found in all its spellings", "[rewriter][error]") {
  using namespace std::string_literals;
  using simt::rewriter::find_line_directive;
  const std::string directive =
      GENERATE(as<std::string>{}, "#line 7 \"a.h\"", " \t# line 7", "%:line 7", "#/* x\n */line/**/7",
               "/* x */ #line NUMBER", "/* x\n */# line 7", "#li\\\nne 7", "#\\ \r\nline 7", "%\\\n: line 7",
               "#l\\\0\nine 7"s, "\0#\0line 7"s, "# 7 \"a.h\" 3", "#7\"a.h\"", "%: 7/**/\"a.h\"",
               "# 7 R\"(a.h)\"", "\\\n#line 7", "#line");
  CAPTURE(directive);
  const std::string before = "int a;  // one line\n";
  const std::size_t place = before.size() + directive.find_first_of("#%");
  CHECK(find_line_directive(before + directive + "\nint b;\n") == place);
  CHECK(find_line_directive("\xef\xbb\xbf" + directive) == 3 + place - before.size());
  // Whatever the text around it seems to be.
  CHECK(find_line_directive("EMPTY(R\"x(\n" + directive + "\n)x\")\n") != std::string::npos);
}

TEST_CASE("what is no such directive is left alone", "[rewriter][error]") {
  using simt::rewriter::find_line_directive;
  const std::string text = GENERATE(
      as<std::string>{}, "#define TEXT(line) #line\n", "#define TEXT(line) \\\n  #line\n", "// #line 7\n",
      "/* issue #7 \"says\" so */\n", "#pragma unroll 7\n", "#linear\n", "#if 7\n#endif\n", "a %\n:line;\n",
      "x = y % line;\n", "/*\n  # 7 of them\n*/\n", "#", "#include \"line\"\n", "a[b %:line];\n");
  CAPTURE(text);
  CHECK(find_line_directive(text) == std::string::npos);
}
