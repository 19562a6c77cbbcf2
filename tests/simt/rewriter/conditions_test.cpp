// Which code counts as never compiled, and so is neither translated nor judged.

#include "support.hpp"

using simt::test::launch;
using simt::test::refusal;
using simt::test::rewritten;

TEST_CASE("code that only a GPU compiles is left alone", "[rewriter][conditions]") {
  const std::string condition = GENERATE(
      as<std::string>{}, "#ifdef __CUDA_ARCH__", "#if defined(__CUDA_ARCH__)", "#if defined __CUDA_ARCH__",
      "#if __CUDA_ARCH__", "#if __CUDA_ARCH__ >= 800", "#if (__CUDA_ARCH__ >= 800)",
      "#if 800 <= __CUDA_ARCH__", "# /* c */ if \\\n __CUDA_ARCH__ > 0",
      "#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 800) && defined(FAST)",
      "#if FAST(1, 2) && defined(__CUDA_ARCH__)",
      "#if defined(__CUDA_ARCH__) && __VER__ * 10 + 3 >= 118 - 2 % 7", "#if !(!defined(__CUDA_ARCH__) || 0)",
      "#if 0", "#if false", "#ifndef __SIMT__", "#if !defined(__SIMT__)", "#if 1 && !1",
      "#if 2 == 3 || 1 != 1u", "#elif __CUDA_ARCH__");
  CAPTURE(condition);
  const std::string open = condition.starts_with("#elif") ? "#if A\n" : "";
  const std::string source =
      open + condition + "\nasm(\"what;\"); k<<<1>>; __shared__ int x = 1; (((\n#endif\n";
  CHECK(refusal(source) == "");
  CHECK(rewritten(source + "k<<<1, 2>>>(x);") == source + launch("k", "1, 2", "x") + ";");
  CHECK(refusal(open + condition + "\nx\n#else\nasm(\"what;\");\n#endif\n") != "");
}

TEST_CASE("code that the simulator may compile is judged", "[rewriter][conditions]") {
  const std::string condition = GENERATE(
      as<std::string>{}, "#ifndef __CUDA_ARCH__", "#if !defined(__CUDA_ARCH__)", "#if __CUDA_ARCH__ < 800",
      "#ifdef FAST", "#if FAST", "#if defined(__CUDA_ARCH__) || FAST", "#if 1", "#if __CUDA_ARCH__ + 1",
      "#if FAST >= 2", "#ifdef __SIMT__", "#if", "#if (((", "#if 1 ? 2 : 3", "#if defined", "#if 0x0",
      "#if -1", "#if __has_include(<x>)", "#elifndef __CUDA_ARCH__");
  CAPTURE(condition);
  const std::string open = condition.starts_with("#elif") ? "#if A\n" : "";
  CHECK(refusal(open + condition + "\nasm(\"what;\");\n#endif\n") != "");
}

TEST_CASE("the else of a group that is compiled for sure is left alone", "[rewriter][conditions]") {
  CHECK(refusal("#ifndef __CUDA_ARCH__\n#else\nasm(\"what;\");\n#endif") == "");
  CHECK(refusal("#if 1\n#elif A\nasm(\"what;\");\n#else\nasm(\"what;\");\n#endif") == "");
  CHECK(refusal("#if A\n#elif !defined(__CUDA_ARCH__)\n#else\nasm(\"what;\");\n#endif") == "");
  CHECK(refusal("#if A\n#else\nasm(\"what;\");\n#endif") != "");
}

TEST_CASE("conditionals nest", "[rewriter][conditions]") {
  CHECK(refusal("#ifdef __CUDA_ARCH__\n#if A\n#else\nasm(\"what;\");\n#endif\nasm(\"what;\");\n#endif") ==
        "");
  CHECK_THAT(refusal("#ifdef __CUDA_ARCH__\n#if A\n#endif\n#endif\nasm(\"what;\");"),
             Catch::Matchers::StartsWith("5: "));
  CHECK(refusal("#endif\n#else\n#elif 1\n") == "");
}

TEST_CASE("macros that only a GPU sees are left alone", "[rewriter][conditions]") {
  CHECK(refusal("#ifdef __CUDA_ARCH__\n#define STOP asm(\"what;\")\n#else\n#define STOP abort()\n#endif") ==
        "");
  CHECK_THAT(refusal("\n#define STOP asm(\"what;\")"),
             Catch::Matchers::StartsWith("2: The simulator does not know the PTX"));
}

TEST_CASE("a condition with a thousand parentheses is survived", "[rewriter][conditions]") {
  CHECK(refusal("#if " + std::string(100000, '(') + "0\nasm(\"what;\");\n#endif") != "");
}

TEST_CASE("code for the device alone is compiled for an architecture", "[rewriter][conditions]") {
  const std::string kernel =
      "__global__ void k() {\n#if __CUDA_ARCH__ >= 800\n  a();\n#else\n  std::max(1, 2);\n#endif\n}\n";
  CHECK(rewritten(kernel) ==
        "__global__ void k() {\n#define __CUDA_ARCH__ 900\n#line 1\n\n#if __CUDA_ARCH__ >= 800\n  "
        "a();\n#else\n  "
        "std::max(1, 2);\n#endif\n\n#undef __CUDA_ARCH__\n#line 7\n}\n");
  CHECK(simt::rewrite(kernel, "file.cu", 890).find("#define __CUDA_ARCH__ 890\n") != std::string::npos);
  CHECK_THROWS_AS(simt::rewrite(kernel, "file.cu", 750), simt::RewriteError);  // then std::max is compiled
}

TEST_CASE("functions for the device alone are declared for an architecture", "[rewriter][conditions]") {
  CHECK(rewritten("\n#if __CUDA_ARCH__ < 600\n__device__ int f();\n#endif\nint x;") ==
        "\n#define __CUDA_ARCH__ 900\n#line 2\n#if __CUDA_ARCH__ < 600\n__device__ int f();\n#endif\n#undef "
        "__CUDA_ARCH__\n#line 5\nint x;");
  const std::string for_both =
      GENERATE(as<std::string>{}, "#ifdef __CUDA_ARCH__\n__host__ __device__ int f();\n#endif\n",
               "__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\n#endif\n}",
               "#ifdef __CUDA_ARCH__\nint x;\n#endif\n", "__global__ void k() {\n#ifdef __SIMT__\n#endif\n}");
  CHECK(rewritten(for_both) == for_both);
}

TEST_CASE("plain C++ beside inline PTX is what runs", "[rewriter][conditions]") {
  const std::string source =
      "__device__ int f() {\n#ifdef __CUDA_ARCH__\n  asm(\"what;\");\n#else\n  return 1;\n#endif\n}\n";
  CHECK(rewritten(source) == source);
}
