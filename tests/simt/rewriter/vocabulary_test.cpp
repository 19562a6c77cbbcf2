// What a lesson's file may be written with.
#include "simt/rewriter/vocabulary.hpp"

#include "simt/rewriter/rewriter.hpp"
#include "support.hpp"

using Catch::Matchers::ContainsSubstring;

namespace {

void check(const std::string& source) {
  simt::rewriter::check_vocabulary(source, "a.cu",
                                   [](const std::string& header, bool) { return header == "mma.h"; });
}

}  // namespace

TEST_CASE("what CUDA C++ is written with is taken", "[rewriter][vocabulary]") {
  const auto source =
      GENERATE(as<std::string>(),  //
               "__global__ void __launch_bounds__(256) k(const float* __restrict__ x) {}",
               "x = __shfl_xor_sync(~0u, __float_as_uint(y), 1) + __expf(z) + __fmaf_rn(a, b, c);",
               "__half h = __float2half(x); __nv_bfloat162 b = __floats2bfloat162_rn(x, y);",
               "__syncthread(); __sharde__ float x; __globl__ void k(); __shaared__ int y;",
               "#if defined(__CUDA_ARCH__) && __CUDACC_VER_MAJOR__ >= 12\n#endif",
               "asm volatile(\"mov.u32 %0, %laneid;\" : \"=r\"(lane));",
               "// ________\n/* ## Steps\n # pass 1\n #1 ______ */ int first__second;",
               "#define CHECK(call) check((call), #call, __FILE__, __LINE__)",
               "#define PRINT(text, ...) printf(text, ##__VA_ARGS__)", "#define SUM(n) float sum_##n = 0;",
               "#define SUM(n, m) float sum_ ## n##_ ## m = 0;",
               "#pragma unroll 4\n#  pragma once\n_Pragma(\"unroll\") for (;;) {}",
               "#pragma GCC diagnostic ignored \"-Wshadow\"", "#",
               "#include <cmath>\n#include <mma.h>\n#include \"device/views.hpp\"\n#include \"a.hpp\"",
               "[[nodiscard]] int f([[maybe_unused]] int x); if (a) [[likely]] b();",
               "[[deprecated(\"gnu\"), nodiscard]] int f();", "x[y[0]] = [] { return 1; }();",
               "std::vector<::course::Box> boxes; a = b % c; std::array<int, 2 % 1> d;",
               "printf(\"%: ## __Note\\n <: simt thread_local\"); // gnu, simt_lane, __builtin_clz, ##",
               "/* __Note__, https://a.b/#_CPPv4 */ // \\\n __attribute__((x))",
               "#if 0\n#include <fstream>\n#ifdef A\n__rdtsc();\n#endif\n#else\nint a;\n#endif",
               "const auto text = R\"(__attribute__ \\\n)\"; const int million = 1'000'000;",
               "template <class _T, int _N> _T first(_T x) { return x; } const auto k = 4_KiB;",
               "void operator\"\"_KiB(unsigned long long);",
               "if (__builtin_expect(i < 0, 0)) __builtin_unreachable();",
               "#ifdef _MSC_VER\n#pragma warning(disable : 4505)\n#endif\n#pragma nv_diag_warning 177",
               "#define A x ##", "x = __vadd2(a, b) + __isClusterShared(p);",
               "enum class Path { simt, tensor };", "#define V(i) v##i\n#define K(name) name##_kernel");
  INFO(source);
  CHECK_NOTHROW(check(source));
}

TEST_CASE("a name of the simulator's that macros make is refused", "[rewriter][vocabulary]") {
  const auto check_after = [](const std::string& text) {
    simt::rewriter::check_names_after_macros(text, "shim");
  };
  const std::string head = "# 0 \"a.cu\"\n# 7 \"a.cu\"\n";
  const auto [line, name] =
      GENERATE(table<std::string, std::string>({{"namespace simt { int x; }", "simt"},
                                                {"namespace [[deprecated(\"[\")]] simt { int x; }", "simt"},
                                                {"namespace __attribute__((aligned(8))) simt { }", "simt"},
                                                {"namespace s = ::simt;", "simt"},
                                                {"using namespace simt;", "simt"},
                                                {"\n\nauto f = ::simt::queue;", "simt"},
                                                {"auto f = ::simt::inline_ptx_of(1);", "simt"},
                                                {"simt_lane();", "simt_lane"},
                                                {"int a = SIMT_PTX(\"\");", "SIMT_PTX"}}));
  INFO(line);
  const std::string where = line.starts_with('\n') ? "a.cu:9:" : "a.cu:7:";
  CHECK_THROWS_WITH(check_after(head + line), ContainsSubstring(where) && ContainsSubstring(name + " here"));
  CHECK_THROWS_WITH(check_after(head + "auto t = R\"(\n# 1 \"shim/b.h\" 1\n)\";\n" + line),
                    ContainsSubstring(name + " here"));
  CHECK_THROWS_WITH(check_after("# 1 \"device/b.hpp\" 1\n" + line), ContainsSubstring("device/b.hpp:"));
  CHECK_NOTHROW(check_after(head + "# 1 \"shim/b.h\" 1\n" + line + "\n# 8 \"a.cu\" 2\nint simt = 1;\n"));
}

TEST_CASE("the names that the rewriter writes are taken after macros", "[rewriter][vocabulary]") {
  CHECK_NOTHROW(simt::rewriter::check_names_after_macros(
      "# 1 \"a.cu\"\n::simt::launch(k, ::simt::LaunchConfig(1)); auto simt_args = 1; f(Path::simt);",
      "shim"));
}

TEST_CASE("what only a host's compiler knows is refused by its name", "[rewriter][vocabulary]") {
  const auto [source, words] = GENERATE(
      table<std::string, std::string>({{"__attribute__((noinline)) void f();", "has no __attribute__:"},
                                       {"int x = __builtin_clz(1);", "__builtin_clz"},
                                       {"__attri\\\nbute__((x)) int a;", "has no __attribute__:"},
                                       {"\"x\"__attribute__((x))", "__attribute__"},
                                       {"'\"' /* */ __builtin_trap() // \"", "__builtin_trap"},
                                       {"#if 0\n#else\nint x = __rdtsc();\n#endif", "__rdtsc"},
                                       {"#if 0\n#if 0\n#endif\n#elif 1\n__rdtsc();\n#endif", "__rdtsc"},
                                       {"#define A __thread", "__thread"},
                                       {"namespace [[deprecated]] simt {}", "does without simt"},
                                       {"namespace __align__(8) simt {}", "does without simt"},
                                       {"_ZTbox();", "_ZTbox"},
                                       {"__shared(x); __syncthr(); __device();", "__shared"},
                                       {"auto x = _mm_loadu_ps(a);", "_mm_loadu_ps"},
                                       {"_Pragma(\"GCC optimize\")", "_Pragma"},
                                       {"#if __has_include(<x>)\n#endif", "__has_include"},
                                       {"extern \"C\" void __tsan_read4(void*);", "__tsan_read4"}}));
  INFO(source);
  CHECK_THROWS_WITH(check(source), ContainsSubstring(words));
}

TEST_CASE("a macro makes no reserved name of parts", "[rewriter][vocabulary]") {
  const auto source = GENERATE(as<std::string>(), "#define J(a, b) a##b\nJ(_, _rdtsc)();",
                               "#define B(name) _##name", "#define J(a, b) a \\\n ## b\nint _x;",
                               "#define E(x) /* \n */ x##_##x", "#define N(a, b, c) a##_##b##_##c",
                               "#define N(a) a##__rdtsc", "#define V(...) __VA_ARGS__##_");
  INFO(source);
  CHECK_THROWS_WITH(check(source), ContainsSubstring("A file with ## in a macro has no name such as _"));
}

TEST_CASE("lines are joined where compilers join them, and nowhere else", "[rewriter][vocabulary]") {
  const auto source =
      GENERATE(as<std::string>(), "// \\\r\r\nint x = __rdtsc();", std::string("int x; // \\\0\n", 13));
  INFO(source);
  CHECK_THROWS_WITH(check(source), ContainsSubstring("Nothing but blanks may stand"));
  CHECK_NOTHROW(check("// a \\\r\n b\nconst char* c = \"\\n\\\\\"; // \\ \n d\n"));
}

TEST_CASE("directives, pragmas, headers and attributes that no lesson's file has are refused",
          "[rewriter][vocabulary]") {
  const auto [source, words] = GENERATE(
      table<std::string, std::string>({{"#ident \"x\"", "no directive #ident"},
                                       {"#include_next <cmath>", "no directive #include_next"},
                                       {"  # /* x */ import <cmath>", "no directive #import"},
                                       {"%:define A 1", "Write signs as such"},
                                       {"int a<:2:>;", "Write signs as such"},
                                       {"<:<\\\n:gnu::x]]", "Write signs as such"},
                                       {"a<:::b:>", "Write signs as such"},
                                       {"#pragma GCC optimize(\"O0\")", "no #pragma GCC"},
                                       {"#pragma redefine_extname a b", "no #pragma redefine_extname"},
                                       {"#include <thread>", "does not include <thread>"},
                                       {"#include \"../a.hpp\"", "does not include"},
                                       {"#include \"/etc/passwd\"", "does not include"},
                                       {"#include \"a.cu\"", "does not include"},
                                       {"#include \"valarray\"", "does not include"},
                                       {"#include \"unistd.h\"", "does not include"},
                                       {"#include <./simt_abi.h>", "does not include"},
                                       {"#include <device//views.hpp>", "does not include"},
                                       {"#include \"simt_abi.h\"", "does not include"},
                                       {"#include <device/../a.hpp>", "does not include"},
                                       {"#include HEADER", "Write out which header"},
                                       {"[[gnu::noinline]] void f();", "no attribute gnu"},
                                       {"[[nodiscard, optimize(\"O0\")]] void f();", "no attribute optimize"},
                                       {"[[using omp: directive(x)]] void f();", "no attribute using"},
                                       {"thread_local int x;", "does without thread_local"},
                                       {"#define X simt::\n", "does without simt"},
                                       {"using namespace simt;", "does without simt"},
                                       {"namespace s = simt;", "does without simt"},
                                       {"namespace s = ::simt;", "does without simt"},
                                       {"simt_lane();", "does without simt_lane"},
                                       {"goto *place;", "goto takes a label"}}));
  INFO(source);
  CHECK_THROWS_WITH(check(source), ContainsSubstring(words));
}

TEST_CASE("what is refused is told with its line", "[rewriter][vocabulary]") {
  CHECK_THROWS_WITH(check("int a;\n\nint b = \\\n __builtin_abs(a);\n"), ContainsSubstring("a.cu:4: "));
  CHECK_THROWS_WITH(check("int a;\n#include <thread>\n"), ContainsSubstring("a.cu:2: "));
}
