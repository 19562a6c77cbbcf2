// __shared__: dynamic arrays become pointers, other declarations lose what __shared__ stands for already.

#include "support.hpp"

using simt::test::refusal;
using simt::test::rewritten;

namespace {

std::string dynamic(const std::string& type, const std::string& name) {
  return "static thread_local " + type + "* const " + name + " SIMT_DYNAMIC_LABEL = ::simt::dynamic_shared<" +
         type + ">();";
}

/// The same in a function.
std::string dynamic_array(const std::string& type, const std::string& name) {
  return "SIMT_DYNAMIC_SHARED " + type + "* const " + name + " = ::simt::dynamic_shared<" + type +
         ">(); SIMT_NAME_SHARED(" + name + ");";
}

}  // namespace

TEST_CASE("extern __shared__ becomes a pointer to the block's dynamic shared memory", "[rewriter][shared]") {
  CHECK(rewritten("extern __shared__ float smem[];") == dynamic("float", "smem"));
  CHECK(rewritten("__global__ void k() { extern __shared__ float smem[]; }") ==
        "__global__ void k() { " + dynamic_array("float", "smem") + " }");
}

TEST_CASE("extern and __shared__ may come in either order", "[rewriter][shared]") {
  CHECK(rewritten("__shared__ extern float smem[];") == dynamic("float", "smem"));
  CHECK(rewritten("extern float __shared__ smem[];") == dynamic("float", "smem"));
}

TEST_CASE("alignment attributes of dynamic shared memory go, wherever they stand", "[rewriter][shared]") {
  const std::string source =
      GENERATE(as<std::string>{}, "extern __shared__ __align__(16) float s[];",
               "extern __align__(16) __shared__ float s[];", "alignas(16) extern __shared__ float s[];",
               "alignas(alignof(float4)) extern __shared__ float s[];",
               "extern __shared__ float __align__(sizeof(double)) s[];",
               "[[maybe_unused]] extern __shared__ float s[];",
               "extern __shared__ __attribute__((aligned(16))) float s[];",
               "extern __shared__ float s[] __attribute__((aligned(16)));",
               "extern /* a */ __shared__ float s /* b */ [ ];");
  CAPTURE(source);
  CHECK(rewritten(source) == dynamic("float", "s"));
}

TEST_CASE("dynamic shared memory keeps its element type", "[rewriter][shared]") {
  const std::string type = GENERATE(as<std::string>{}, "unsigned char", "T", "typename Traits<T>::Vec",
                                    "float4", "struct Pair", "const float", "volatile int", "std::uint32_t",
                                    "::ns::A<B<int>, (x > y)>", "decltype(a + b)", "unsigned long long int");
  CAPTURE(type);
  CHECK(rewritten("extern __shared__ " + type + " s[];") == dynamic(type, "s"));
}

TEST_CASE("volatile in front of __shared__ belongs to the type", "[rewriter][shared]") {
  CHECK(rewritten("extern volatile __shared__ float s[];") == dynamic("volatile float", "s"));
}

TEST_CASE("dynamic shared memory with rows becomes a pointer to rows", "[rewriter][shared]") {
  CHECK(rewritten("extern __shared__ float tile[][33][N + 1];") ==
        "static thread_local float (*const tile)[33][N + 1] SIMT_DYNAMIC_LABEL = "
        "::simt::dynamic_shared<float[33][N + 1]>();");
}

TEST_CASE("several arrays of one declaration all begin at the same place", "[rewriter][shared]") {
  CHECK(rewritten("extern __shared__ float4 a[], b[], c[][2];") ==
        "static thread_local float4* const a SIMT_DYNAMIC_LABEL = ::simt::dynamic_shared<float4>(), *const b "
        "SIMT_DYNAMIC_LABEL = "
        "::simt::dynamic_shared<float4>(), "
        "(*const c)[2] SIMT_DYNAMIC_LABEL = ::simt::dynamic_shared<float4[2]>();");
}

TEST_CASE("an array of pointers in dynamic shared memory is supported alone", "[rewriter][shared]") {
  CHECK(rewritten("extern __shared__ float* rows[];") == dynamic("float*", "rows"));
  CHECK_THAT(refusal("extern __shared__ float *a[], *b[];"),
             Catch::Matchers::StartsWith("1: Each array of dynamic"));
}

TEST_CASE("dynamic shared memory can be declared by a macro", "[rewriter][shared][macro]") {
  CHECK(rewritten("#define SMEM(T, name) extern __shared__ T name[]\n") ==
        "#define SMEM(T, name) SIMT_DYNAMIC_SHARED T* const name = ::simt::dynamic_shared<T>(); "
        "SIMT_NAME_SHARED(name)\n");
  CHECK(rewritten("#define SMEM(T) \\\n extern __shared__ \\\n T s[];\n") ==
        "#define SMEM(T) \\\n SIMT_DYNAMIC_SHARED T* const s = ::simt::dynamic_shared<T>() \\\n; "
        "SIMT_NAME_SHARED(s);\n");
  CHECK(rewritten("#define SMEM(n) extern __shared__ int n##_s[];\n") ==
        "#define SMEM(n) SIMT_DYNAMIC_SHARED int* const n##_s = ::simt::dynamic_shared<int>(); "
        "SIMT_NAME_SHARED(n##_s);\n");
}

TEST_CASE("a macro that declares shared memory outside of functions names nothing",
          "[rewriter][shared][macro]") {
  CHECK(rewritten("#define SMEM(T, name) extern __shared__ T name[]\nSMEM(float, s);\n") ==
        "#define SMEM(T, name) static thread_local T* const name = ::simt::dynamic_shared<T>()\n"
        "SMEM(float, s);\n");
}

TEST_CASE("a declaration over several lines keeps the number of lines", "[rewriter][shared]") {
  CHECK(
      rewritten("extern __shared__\n  float\n  s[];\nint x;") ==
      "static thread_local float* const s SIMT_DYNAMIC_LABEL = ::simt::dynamic_shared<float>()\n\n;\nint x;");
}

TEST_CASE("static and extern beside a shared variable of known size go", "[rewriter][shared]") {
  CHECK(rewritten("static __shared__ float x;") == " __shared__ float x;");
  CHECK(rewritten("__shared__ static float x[4];") == "__shared__  float x[4];");
  CHECK(rewritten("extern __shared__ float x[16];") == " __shared__ float x[16];");
  CHECK(rewritten("extern __shared__ float x;") == " __shared__ float x;");
}

TEST_CASE("alignas after __shared__ moves to the front", "[rewriter][shared]") {
  CHECK(rewritten("__shared__ alignas(16) float x[4];") == "alignas(16) __shared__  float x[4];");
  CHECK(rewritten("__shared__ alignas(A<B>) alignas(8) float x[4];") ==
        "alignas(A<B>) alignas(8) __shared__   float x[4];");
  CHECK(rewritten("alignas(16) __shared__ float x[4];") == "alignas(16) __shared__ float x[4];");
}

TEST_CASE("alignas after another specifier is refused, as by nvcc", "[rewriter][shared]") {
  const std::string source =
      GENERATE(as<std::string>{}, "extern __shared__ alignas(16) float s[];",
               "static __shared__ alignas(16) float s[4];", "__shared__ const alignas(16) float s[4];");
  CAPTURE(source);
  CHECK_THAT(refusal(source), Catch::Matchers::StartsWith("1: alignas(...) must come first"));
}

TEST_CASE("shared variables without a value stay as they are", "[rewriter][shared]") {
  const std::string source = GENERATE(
      as<std::string>{}, "__shared__ float tile[kTile][kTile + 1], row[4];", "__shared__ float x, *p, y[2];",
      "__shared__ typename Reduce<float, 256>::Storage storage;", "__shared__ struct { float x = 0; } s;",
      "__shared__ struct S : B { int x{1}; } s[2];", "__shared__ union U { float f; int i; } u;",
      "__shared__ float (*rows)[4];", "__shared__ float (*f)(int);", "__shared__ A<(a = b)> x;",
      "__shared__ __align__(16) float x[4] __attribute__((aligned(4)));", "__shared__ decltype(f(1)) x;",
      "float __shared__ x;", "__shared__ DECLARE(float, x);", "void f(__shared__ float* p) { }",
      "#define SHARED __shared__\n", "f(__shared__);", "__shared__",
      "#define NAMED(x) x##_s\n__shared__ float NAMED(a);");
  CAPTURE(source);
  CHECK(rewritten(source) == source);
}

TEST_CASE("a shared variable with a value is refused", "[rewriter][shared][error]") {
  const std::string declaration = GENERATE(
      as<std::string>{}, "__shared__ float x = 0;", "__shared__ float x{};", "__shared__ float x[2] = {};",
      "__shared__ A<int> x(3, 4);", "static __shared__ int x = 1;", "__shared__ int a[3], b, x = 1;",
      "__shared__ float x[2]{1, 2};", "__shared__ A a, x(1);", "alignas(16) __shared__ float x = 0;",
      "extern __shared__ float x[4] = {0};", "float __shared__ x = 0;");
  CAPTURE(declaration);
  CHECK(refusal("void f();\n\n" + declaration) ==
        "3: The __shared__ variable 'x' cannot be given a value where it is declared: one copy serves the "
        "whole block. "
        "Declare it without a value, let one thread assign to it, then call __syncthreads().");
}

TEST_CASE("dynamic shared memory in a form that is not supported is refused", "[rewriter][shared][error]") {
  CHECK_THAT(refusal("extern __shared__ struct { int x; } s[];"),
             Catch::Matchers::StartsWith("1: Define the struct first"));
  CHECK_THAT(refusal("\nextern __shared__ float a[], b[4];"), Catch::Matchers::StartsWith("2: Each array"));
  CHECK_THAT(refusal("extern __shared__ float s[] = {1};"),
             Catch::Matchers::StartsWith("1: Dynamic shared memory cannot"));
  CHECK_THAT(refusal("extern __shared__ s[];"),
             Catch::Matchers::StartsWith("1: This dynamic shared memory has no type"));
  CHECK_THAT(refusal("extern __shared__ float s[]\nint x;"),
             Catch::Matchers::ContainsSubstring("is a ';' missing?"));
}

TEST_CASE("__noinline__ becomes an attribute unless it is inside one", "[rewriter][noinline]") {
  CHECK(rewritten("__noinline__ __device__ int f();") == "__attribute__((noinline)) __device__ int f();");
  const std::string source =
      "__attribute__((__noinline__)) int f(); __attribute__((cold, __noinline__)) [[gnu::__noinline__]] int "
      "g();";
  CHECK(rewritten(source) == source);
}
