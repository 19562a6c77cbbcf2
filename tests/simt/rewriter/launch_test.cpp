// Launches: which tokens name the kernel, where the configuration ends, and what becomes of them.

#include "support.hpp"

using simt::test::lambdas;
using simt::test::launch;
using simt::test::refusal;
using simt::test::rewritten;

TEST_CASE("a launch becomes a call that names the kernel", "[rewriter][launch]") {
  CHECK(rewritten("k<T><<<g,b,s,st>>>(x, y);") ==
        "::simt::launch(\"k<T>\", ::simt::LaunchConfig(g,b,s,st), [&](auto simt_kernel) -> "
        "decltype(simt_kernel(k<T>)) { return simt_kernel(k<T>); }, [&](auto&... simt_args) { "
        "k<T>(simt_args...); })(x, y);");
}

TEST_CASE("a launch takes one to four configuration values", "[rewriter][launch]") {
  const std::string config = GENERATE("n", "n, 32", "n, 32, bytes", "n, 32, bytes, stream");
  CHECK(rewritten("k<<<" + config + ">>>(x);") == launch("k", config, "x") + ";");
}

TEST_CASE("a launch may have no arguments", "[rewriter][launch]") {
  CHECK(rewritten("k<<<1, 32>>>();") == launch("k", "1, 32", "") + ";");
  CHECK(rewritten("k<<<1, 32>>>(/* none */);") == launch("k", "1, 32", "/* none */") + ";");
}

TEST_CASE("white space around the signs of a launch is no obstacle", "[rewriter][launch]") {
  CHECK(rewritten("k <<< 1 , 32 >>> (x);") ==
        "::simt::launch(\"k\",  ::simt::LaunchConfig( 1 , 32 ), " + lambdas("k") + ") (x);");
}

TEST_CASE("the kernel's name takes in all that belongs to it", "[rewriter][launch]") {
  const std::string name =
      GENERATE(as<std::string>{}, "kernel", "kernel<float>", "kernel<Foo<A, (b > c)>, 4>",
               "kernel<Foo<Bar<int>>>", "kernel<(a < b)>", "kernel<4, D < 64>", "kernel<D < 64>",
               "kernel<'<', sizeof(T) >= 4>", "ns::kernel<T>", "::kernel", "::a::b<int>::kernel",
               "Traits<T>::template kernel<N>", "(*fn)", "(kernel<T>)", "fns[i]", "table.fns[i][j]",
               "object->fn", "pick(n)", "pick<T>(n)", "reinterpret_cast<void (*)(int)>(p)",
               "decltype(policy)::kernel", "kernel<1 << 4>", "kernel<&ns::op<int>>", "kernel<a && b < c>");
  CAPTURE(name);
  CHECK(rewritten("  " + name + "<<<1, 2>>>(x);") == "  " + launch(name, "1, 2", "x") + ";");
  CHECK(rewritten("if (a < b) " + name + "<<<1, 2>>>(x);") ==
        "if (a < b) " + launch(name, "1, 2", "x") + ";");
  CHECK(rewritten("return " + name + "<<<1, 2>>>(x);") == "return " + launch(name, "1, 2", "x") + ";");
  CHECK(rewritten("for (;;) {" + name + "<<<1, 2>>>(x);}") ==
        "for (;;) {" + launch(name, "1, 2", "x") + ";}");
}

TEST_CASE("a function pointer behind if, else and while is not taken for a call", "[rewriter][launch]") {
  const std::string before =
      GENERATE(as<std::string>{}, "if (ready) ", "while (more()) ", "else ", "do ", "if constexpr (N > 1) ",
               "for (int i = 0; i < n; ++i) ", "x = 1, ", "label: ", "(void)0; ", "c ? ");
  CAPTURE(before);
  CHECK(rewritten(before + "(*fn)<<<1, 2>>>(x);") == before + launch("(*fn)", "1, 2", "x") + ";");
}

TEST_CASE("a configuration may hold any expression", "[rewriter][launch]") {
  const std::string config = GENERATE(
      as<std::string>{}, "dim3(1, 2), f(a, b)", "dim3{1, 2}, {3}", "n < 4 ? 1 : 2, b",
      "a < b && c < d && e < f ? g : h, 1", "blocks<T, 4>(n), threads<A<B<int>>>(1, 2)", "f<A<B<int>>>(), 1",
      "(n >> 2), (m >>3)", "n >> 2, m", "n << 2, 1", "[&] { return a >> b; }(), 32",
      "[] { if (x > y) { return 1; } return 2; }(), 1", "size<x>, 1", "p->n, 1", "1'000'000, 32",
      "f(\">>>(\"), '>'", "g, b, sizeof(float) * (n + 1), 0", "std::min<int>(a, b), 1", "a >= b, a <= b",
      "x < y, z", "A<B>::v, C<D<E>>::v", "a < 1, b < 2, c < 3, d < 4", "a <=> b, 1", "config...");
  CAPTURE(config);
  CHECK(rewritten("k<<<" + config + ">>>(x);") == launch("k", config, "x") + ";");
}

TEST_CASE("three closing template brackets in front of the end of a configuration belong to the template",
          "[rewriter][launch]") {
  CHECK(rewritten("k<<<1, v<A<B>>>>>(x);") == launch("k", "1, v<A<B>>", "x") + ";");
  CHECK(rewritten("k<A<B<C>>><<<1, v<A>>>>(x);") == launch("k<A<B<C>>>", "1, v<A>", "x") + ";");
}

TEST_CASE("launches may stand in lambdas, templates and comma expressions", "[rewriter][launch]") {
  CHECK(rewritten("auto f = [&] { k<<<1, 2>>>(x); };") ==
        "auto f = [&] { " + launch("k", "1, 2", "x") + "; };");
  CHECK(rewritten("k<<<1, 2>>>(x), k<3><<<3, 4>>>(y);") ==
        launch("k", "1, 2", "x") + ", " + launch("k<3>", "3, 4", "y") + ";");
  CHECK(rewritten("run(k<<<1, 2>>>([&] { j<<<3, 4>>>(); return 5; }()));") ==
        "run(" + launch("k", "1, 2", "[&] { " + launch("j", "3, 4", "") + "; return 5; }()") + ");");
  CHECK(rewritten("k<<<[] { j<<<3, 4>>>(); return 5; }(), 2>>>(x);") ==
        launch("k", "[] { " + launch("j", "3, 4", "") + "; return 5; }(), 2", "x") + ";");
}

TEST_CASE("NULL as a whole argument becomes nullptr", "[rewriter][launch]") {
  CHECK(rewritten("k<<<1, 2, 0, NULL>>>(NULL, x == NULL, f(NULL), NULL);") ==
        launch("k", "1, 2, 0, NULL", "nullptr, x == NULL, f(NULL), nullptr") + ";");
}

TEST_CASE("quotes in a kernel's template arguments are escaped in its name", "[rewriter][launch]") {
  CHECK(rewritten("k<'\"', '\\\\'><<<1, 2>>>();") ==
        "::simt::launch(\"k<'\\\"', '\\\\\\\\'>\", ::simt::LaunchConfig(1, 2), " +
            lambdas("k<'\"', '\\\\'>") + ")();");
}

TEST_CASE("a launch in a macro takes the kernel's name from the macro's arguments",
          "[rewriter][launch][macro]") {
  CHECK(rewritten("#define RUN(kernel, T, ...) kernel<T, 4><<<g, b>>>(__VA_ARGS__)\n") ==
        "#define RUN(kernel, T, ...) ::simt::launch(#kernel \"<\" #T \", 4>\", ::simt::LaunchConfig(g, b), " +
            lambdas("kernel<T, 4>") + ")(__VA_ARGS__)\n");
  CHECK(rewritten("#define RUN(name, args...) name##_kernel<<<1, 2>>>(args)") ==
        "#define RUN(name, args...) ::simt::launch(#name \"_kernel\", ::simt::LaunchConfig(1, 2), " +
            lambdas("name##_kernel") + ")(args)");
  CHECK(rewritten("#define GO k<<<1, 2>>>(x)") == "#define GO " + launch("k", "1, 2", "x"));
  CHECK(rewritten("#define GO (k)<<<1, 2>>>(x)") == "#define GO " + launch("(k)", "1, 2", "x"));
}

TEST_CASE("a launch in a macro may run over continued lines", "[rewriter][launch][macro]") {
  CHECK(rewritten("#define GO(k) \\\n  k< \\\n    int><<<1, \\\n 2>>>( \\\n x)\nint after;") ==
        "#define GO(k) \\\n  ::simt::launch(#k \"< int>\",  \\\n::simt::LaunchConfig(1, \\\n 2), " +
            lambdas("k< int>") + ")( \\\n x)\nint after;");
}

TEST_CASE("this-> may lead to a function pointer but not to a kernel", "[rewriter][launch]") {
  CHECK(rewritten("this->fn<<<1, 2>>>(x);") == launch("this->fn", "1, 2", "x") + ";");
  CHECK_THAT(refusal("__global__ void k(int);\nvoid S::f() { this->k<<<1, 2>>>(x); }"),
             Catch::Matchers::StartsWith("2: A kernel is not a member of a class"));
}

TEST_CASE("operator<< with explicit template arguments is not a launch", "[rewriter][launch]") {
  const std::string source = "std::operator<<<char>(out, \"x\"); friend S& operator<<<>(S&, const T<U>&);\n";
  CHECK(rewritten(source) == source);
}

TEST_CASE("blanks within the signs of a launch are no obstacle", "[rewriter][launch]") {
  const std::string plain = rewritten("k<<<g, 32>>>(x);");
  const std::string signs = GENERATE("k<< <g, 32>>>(x);", "k<<<g, 32>> >(x);", "k<< <g, 32>> >(x);");
  CHECK(rewritten(signs) == plain);
  CHECK(rewritten("k<A<B<int> > ><< <g, a<b<int> >(3)>> >(x);").find("LaunchConfig(g, a<b<int> >(3))") !=
        std::string::npos);
  CHECK(rewritten("std::ostream& operator<< <T>(std::ostream&, T);") ==
        "std::ostream& operator<< <T>(std::ostream&, T);");
}

TEST_CASE("a literal 0 and values in braces take the parameter's type", "[rewriter][launch]") {
  CHECK(rewritten("k<<<1, 2>>>(p, 0);") ==
        "::simt::launch(\"k\", ::simt::LaunchConfig(1, 2), " +
            lambdas("k",
                    "if constexpr (requires { k(::simt::as_number(simt_args)...); }) "
                    "k(::simt::as_number(simt_args)...); else k(simt_args...);") +
            ")(p, ::simt::Zero());");
  CHECK(
      rewritten("k<<<1, 2>>>({a, 4}, 10);") ==
      launch("k", "1, 2",
             "::simt::braced([&](auto simt_known) { if constexpr (!simt_known) return [=]<class simt_type>() "
             "mutable { return simt_type{a, 4}; }; else return [&]<class simt_type>() { return simt_type{a, "
             "4}; }; }(::simt::is_known([&](auto simt_kernel) -> decltype(simt_kernel(k)) { return "
             "simt_kernel(k); }))), 10") +
          ";");
}

TEST_CASE("a kernel that is handed on as void* keeps its type", "[rewriter][launch]") {
  const std::string rest = ", grid, block, arguments, 0, stream); __global__ void k();";
  const std::string function = GENERATE("cudaLaunchKernel", "cudaLaunchCooperativeKernel");
  for (const char* cast : {"(void*)", "(void *) ", "(const void*)", "reinterpret_cast<const void*>"})
    CHECK_THAT(
        rewritten(function + "(" + cast + "(k<int>)" + rest),
        Catch::Matchers::ContainsSubstring("(k<int>), grid") && !Catch::Matchers::ContainsSubstring("void*"));
}
