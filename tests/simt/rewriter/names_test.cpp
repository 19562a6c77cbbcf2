// The names that reports quote: of shared variables, and of a kernel's parameters.

#include "support.hpp"

using simt::test::rewritten;

namespace {

/// A kernel with these parameters, and the names that its body begins with.
std::string named(const std::string& parameters) {
  const std::string head = "__global__ void k(" + parameters + ") {";
  const std::string result = rewritten(head + " }");
  REQUIRE(result.substr(0, head.size()) == head);
  const std::string names = result.substr(head.size());
  if (names == " }") return "";
  const std::string begin = " SIMT_NAME_PARAMETERS(", end = "); }";
  REQUIRE(names.substr(0, begin.size()) == begin);
  REQUIRE(names.size() > begin.size() + end.size());
  REQUIRE(names.substr(names.size() - end.size()) == end);
  return names.substr(begin.size(), names.size() - begin.size() - end.size());
}

const std::string local_dynamic =
    "SIMT_DYNAMIC_SHARED T* const s = ::simt::dynamic_shared<T>(); SIMT_NAME_SHARED(s); ";

/// What is written behind a statement of a function that has dynamic shared memory `s`. The rest of the
/// function must stay as it is.
std::string views(const std::string& statement, const std::string& rest = "") {
  const std::string head = "void f() { " + local_dynamic + statement;
  const std::string result = rewritten("void f() { extern __shared__ T s[]; " + statement + rest + " }");
  REQUIRE(result.substr(0, head.size()) == head);
  REQUIRE(result.ends_with(rest + " }"));
  return result.substr(head.size(), result.size() - head.size() - rest.size() - 2);
}

}  // namespace

TEST_CASE("shared variables of a function are named behind their declaration", "[rewriter][names]") {
  const std::string declaration = GENERATE(
      as<std::string>{}, "__shared__ float tile[4][kN + 1];", "__shared__ int tile;",
      "__shared__ A<B, C> tile;", "__shared__ struct { int x; } tile;",
      "__shared__ __align__(16) T tile[4] __attribute__((aligned(4)));",
      "__shared__ typename S<T>::Storage tile [[maybe_unused]];", "volatile float __shared__ tile[2];",
      "__shared__ decltype(f(1)) tile[N < 3 ? 1 : 2];", "__shared__ float*tile[4];");
  CAPTURE(declaration);
  const std::string after = declaration + " SIMT_NAME_SHARED(tile);";
  CHECK(rewritten("void f() {" + declaration + "}") == "void f() {" + after + "}");
  CHECK(rewritten("auto f = [&](auto x) mutable { if constexpr (x) {" + declaration + "} };") ==
        "auto f = [&](auto x) mutable { if constexpr (x) {" + after + "} };");
  CHECK(rewritten("namespace a::b { template <class T> struct S f() {" + declaration + "} }") ==
        "namespace a::b { template <class T> struct S f() {" + after + "} }");
  CHECK(rewritten("struct alignas(8) S : B<int> { void f() const {" + declaration + "} };") ==
        "struct alignas(8) S : B<int> { void f() const {" + after + "} };");
}

TEST_CASE("each variable of a declaration is named on its own line", "[rewriter][names]") {
  CHECK(rewritten("void f() {\n__shared__ T a[2],\n  b, *c;\nint x; }") ==
        "void f() {\n__shared__ T a[2],\n  b, *c; SIMT_NAME_SHARED(a); SIMT_NAME_SHARED(b); "
        "SIMT_NAME_SHARED(c);\nint x; }");
  CHECK(rewritten("void f() { extern __shared__ T a[], b[][2]; }") ==
        "void f() { SIMT_DYNAMIC_SHARED T* const a = ::simt::dynamic_shared<T>(), (*const b)[2] = "
        "::simt::dynamic_shared<T[2]>(); SIMT_NAME_SHARED(a); SIMT_NAME_SHARED(b); }");
}

TEST_CASE("what is made of dynamic shared memory is named behind its declaration",
          "[rewriter][names][views]") {
  CHECK(views("float* K = reinterpret_cast<float*>(s);") == " SIMT_NAME_VIEW(K);");
  CHECK(views("auto *const K = (float*)s, *V = K + 64 * 32;") == " SIMT_NAME_VIEW(K); SIMT_NAME_VIEW(V);");
  CHECK(views("float (*K)[33] = reinterpret_cast<float (*)[33]>(s + n);") == " SIMT_NAME_VIEW(K);");
  CHECK(views("float (&K)[8][N < 3 ? 1 : 2] = *reinterpret_cast<float (*)[8][N < 3 ? 1 : 2]>(&s[0]);") ==
        " SIMT_NAME_VIEW(K);");
  CHECK(views("A<B, C>* K = static_cast<A<B, C>*>(static_cast<void*>(s));") == " SIMT_NAME_VIEW(K);");
}

TEST_CASE("values, uses and what comes from elsewhere get no name", "[rewriter][names][views]") {
  const std::string statement =
      GENERATE(as<std::string>{}, "float x = s[3];", "x = s[3];", "*p = s[3];", "p->s = s[3];", "p = s;",
               "float* p = x.s;", "float* p = ns::s;", "return s;", "using K = decltype(s);", "y[0] = s[1];",
               "for (float* p = s; p < e; ++p) f(p);", "while (float* p = f(s)) f(p);",
               "if (float* p = s; p[0] > 0) f(p);", "float* p = q;", "float*\n#if A\np = s\n#endif\n;",
               "f([&](auto& a) { a = s[0]; });", "f(*reinterpret_cast<T*>(s));", "case 1: float* p = s;");
  CAPTURE(statement);
  CHECK(views(statement) == "");
}

TEST_CASE("an object in dynamic shared memory is named by the members that the file uses",
          "[rewriter][names][views]") {
  const std::string names = " SIMT_NAME_MEMBER(smem, ., K); SIMT_NAME_MEMBER(smem, ., P);";
  CHECK(views("auto& smem = *reinterpret_cast<Tiles<Shape>*>(s);", "f(smem.K); smem.P[0] = other.Q;") ==
        names);
  CHECK(views("Tiles<Shape>* smem = reinterpret_cast<Tiles<Shape>*>(s);", "smem->K; smem->K; (*smem).P;") ==
        " SIMT_NAME_MEMBER(smem, ->, K);");
}

TEST_CASE("members that only a helper uses are named, whatever the helper calls the object",
          "[rewriter][names][views]") {
  const std::string helper =
      "template <class S> void f(float x, const ns::Tiles<S>& tiles) { g(tiles.V, x.W); }\n";
  CHECK(rewritten(helper +
                  "void k() { extern __shared__ T s[]; auto& smem = *reinterpret_cast<Tiles<A, B>*>(s); }") ==
        helper + "void k() { " + local_dynamic +
            "auto& smem = *reinterpret_cast<Tiles<A, B>*>(s); SIMT_NAME_MEMBER(smem, ., V); }");
}

TEST_CASE("an object without a name of its own has the name that a helper gives it",
          "[rewriter][names][views]") {
  const std::string helper = "template <class S> void f(Tiles<S>* smem, int n) { g(smem->V[n], smem->K); }\n";
  CHECK(rewritten(helper +
                  "void k() { extern __shared__ T s[]; f<A>(static_cast<const Tiles<A, B>*>(s), 1); }") ==
        helper + "void k() { " + local_dynamic +
            "f<A>(static_cast<const Tiles<A, B>*>(SIMT_SEEN_AS(s, smem, SIMT_NAME_MEMBER(smem, ->, V); "
            "SIMT_NAME_MEMBER(smem, ->, K), const Tiles<A, B>)), 1); }");
}

TEST_CASE("an object that lies in memory which a function got as void* is named by its members",
          "[rewriter][names][views]") {
  const std::string use = "__device__ float f() { return smem_.K[0]; } ";
  const std::string seen = "(SIMT_SEEN_AS(p, smem_, SIMT_NAME_MEMBER(smem_, ., K), Tiles<T>))";
  CHECK(rewritten(use + "Block(int n, void* p) : smem_(*static_cast<Tiles<T>*>(p)), n_(n) {}") ==
        use + "Block(int n, void* p) : smem_(*static_cast<Tiles<T>*>" + seen + "), n_(n) {}");
  CHECK(rewritten(use + "void g(void* p) { auto& smem_ = *static_cast<Tiles<T>*>(p); }") ==
        use + "void g(void* p) { auto& smem_ = *static_cast<Tiles<T>*>" + seen + "; }");
  for (const std::string source :
       {"void g(float* p) { auto& smem_ = *static_cast<Tiles<T>*>(p); }",
        "void g(void* p) { auto& other = *static_cast<Tiles<T>*>(p); }",
        "void g(void* p) { f(*static_cast<Tiles<T>*>(p)); }",
        "void g(void* p); void h() { extern T p[]; auto& smem_ = *static_cast<Tiles<T>*>(p); }"}) {
    CAPTURE(source);
    CHECK(rewritten(use + source) == use + source);
    CHECK(rewritten("float x = smem_.K[0]; " + source) == "float x = smem_.K[0]; " + source);
  }
}

TEST_CASE("declarators in unusual forms stay without a name", "[rewriter][names]") {
  CHECK(rewritten("void f() { __shared__ T a, (*rows)[4]; }") ==
        "void f() { __shared__ T a, (*rows)[4]; SIMT_NAME_SHARED(a); }");
  const std::string source = GENERATE(as<std::string>{}, "void f() { __shared__ T (*rows)[4]; }",
                                      "void f() { __shared__ DECLARE(float, x); }",
                                      "#define NAMED(x) x##_s\nvoid f() { __shared__ T NAMED(x); }",
                                      "void f() { __shared__ T x[\n#if A\n2\n#else\n3\n#endif\n]; }",
                                      "void f() { g(__shared__ float); }");
  CAPTURE(source);
  CHECK(rewritten(source) == source);
}

TEST_CASE("outside of functions shared memory has no place for a name", "[rewriter][names]") {
  const std::string declaration = "__shared__ float x[4];";
  for (const std::string scope : {"", "namespace {", "namespace a::b {", "inline namespace v1 {",
                                  "extern \"C\" {", "struct S {", "template <class T> class C final : B {"}) {
    CAPTURE(scope);
    CHECK(rewritten(scope + declaration) == scope + declaration);
    CHECK(rewritten(scope + declaration + "}") == scope + declaration + "}");
  }
}

TEST_CASE("a macro names the shared memory it declares", "[rewriter][names][macro]") {
  CHECK(rewritten("#define TILE(T, n) __shared__ T n##_tile[32]\n") ==
        "#define TILE(T, n) __shared__ T n##_tile[32]; SIMT_NAME_SHARED(n##_tile)\n");
  CHECK(rewritten("#define TILE __shared__ int a[2], b; \\\n b = 0;\n") ==
        "#define TILE __shared__ int a[2], b; SIMT_NAME_SHARED(a); SIMT_NAME_SHARED(b); \\\n b = 0;\n");
  // More of the declaration may follow.
  const std::string source = GENERATE(as<std::string>{}, "#define SHARED __shared__ unsigned char\n",
                                      "#define TILE(x) __shared__ T x\n");
  CHECK(rewritten(source) == source);
}

TEST_CASE("a kernel names its parameters first", "[rewriter][names]") {
  CHECK(rewritten("__global__ void k(float* a, int n) { a[n] = 1; }") ==
        "__global__ void k(float* a, int n) { SIMT_NAME_PARAMETERS(SIMT_PARAMETER(a), SIMT_PARAMETER(n)); "
        "a[n] = 1; }");
  const std::string body = " { SIMT_NAME_PARAMETERS(SIMT_PARAMETER(a)); }";
  for (const std::string head :
       {"template <class T, int N = (3 > 2)> __global__ void k(T a)",
        "template <> void __global__ k<int>(T a)", "static __global__ void\nk(\n  T // first\n  a\n)\n",
        "__global__ void BOUNDS(256) k(T a)", "[[gnu::cold]] __global__ void k(T a) noexcept(true)",
        "template <class U> requires A<U> __global__ void k(T a) requires requires (U u) { u + 1; }",
        "#define KERNEL __global__ void k(T a)"}) {
    CAPTURE(head);
    CHECK(rewritten(head + " { }") == head + body);
  }
}

TEST_CASE("a kernel notes its launch bounds", "[rewriter][names]") {
  struct Case {
    const char *head, *threads;
  };
  for (const Case& one :
       {Case{"extern \"C\" __global__ __launch_bounds__(256, 2) void k()", "256"},
        Case{"__global__ void __launch_bounds__(kThreads) k()", "kThreads"},
        Case{"static __launch_bounds__(32 * kWarps) __global__ void k()", "32 * kWarps"},
        Case{"template <class T, int N> __global__ void __launch_bounds__(Shape<T, N>::kThreads, 2) k()",
             "Shape<T, N>::kThreads"},
        Case{"__global__ void __launch_bounds__(max_of(64, N)) k()", "max_of(64, N)"}}) {
    CAPTURE(one.head);
    CHECK(rewritten(std::string(one.head) + " { }") ==
          std::string(one.head) + " { SIMT_LAUNCH_BOUNDS((" + one.threads + ")); }");
  }
  CHECK(rewritten("__launch_bounds__(32) __global__ void j(); __global__ void k() { }") ==
        "__launch_bounds__(32) __global__ void j(); __global__ void k() { }");
}

TEST_CASE("kernels that are only declared name nothing", "[rewriter][names]") {
  const std::string source = GENERATE(
      as<std::string>{}, "__global__ void k(float* a);", "__global__ void k(int n = 3); int f() { }",
      "__global__ void k() { }", "template __global__ void k<int>(int* a);",
      "#define KERNEL __global__ void\n", "__global__ void k(\n#if A\nint a\n#else\nint b\n#endif\n) { }",
      "#if A\n__global__ void k(int a)\n#else\n__global__ void k(int b)\n#endif\n{ }");
  CAPTURE(source);
  CHECK(rewritten(source) == source);
}

TEST_CASE("a parameter's name is found whatever its type is", "[rewriter][names]") {
  const std::string parameter = GENERATE(
      as<std::string>{}, "T a", "const float* __restrict__ a", "float *a", "int a = f(1, 2)", "int a[]",
      "float a[4][N]", "unsigned long long a", "std::pair<int, A<B>> a", "typename T::type const& a",
      "const __grid_constant__ Params a", "struct S a", "float (*a)[8]", "[[maybe_unused]] int a",
      "A<(1 > 2), decltype(x)> a = {1, 2}", "decltype(x) a", "Map<int, int> a = Map<int, int>{}");
  CAPTURE(parameter);
  CHECK(named(parameter) == "SIMT_PARAMETER(a)");
  CHECK(named("int, " + parameter + ", int b") == "SIMT_PARAMETER(a), SIMT_PARAMETER(b)");
}

TEST_CASE("the parameters of a pack are named together", "[rewriter][names]") {
  CHECK(named("int n, const T*... rest") == "SIMT_PARAMETER(n), SIMT_PARAMETER(rest)...");
}

TEST_CASE("parameters without a plain name are left out", "[rewriter][names]") {
  const std::string parameter =
      GENERATE(as<std::string>{}, "", "void", "int", "const float* __restrict__", "unsigned long",
               "typename T::type", "struct S", "const Params", "std::pair<int, int>", "void (*f)(int)",
               "float (&)[4]", "Args...", "...", "PARAMETERS", "DECLARE(float, x)", "int = 3", "float[4]");
  CAPTURE(parameter);
  CHECK(named(parameter) == "");
}

TEST_CASE("a macro's name is no parameter's name", "[rewriter][names]") {
  const std::string source = "#define RESTRICT __restrict__\n__global__ void k(float* RESTRICT) { }";
  CHECK(rewritten(source) == source);
  CHECK(rewritten("#define KERNEL(T, x) __global__ void k(T* x, T##_t) { }\n") ==
        "#define KERNEL(T, x) __global__ void k(T* x, T##_t) { SIMT_NAME_PARAMETERS(SIMT_PARAMETER(x)); }\n");
}
