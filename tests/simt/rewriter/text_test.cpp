// What must stay as it is: comments, literals, directives, plain C++, and the number of every line.

#include "support.hpp"

using simt::test::lambdas;
using simt::test::launch;
using simt::test::refusal;
using simt::test::rewritten;

TEST_CASE("plain C++ is only given a line directive", "[rewriter][text]") {
  const std::string source =
      GENERATE(as<std::string>{}, "", "\n", "int main() { return 1 << 2 >> 3; }\n", "no newline at the end",
               "a <<= b >>= c;", "std::cout << x << y; std::cin >> z;", "A<B<C<D>>> x; auto y = a<b>>(c);",
               "int s\\\nhared;", "\r\nint x;\r\n", "if (a < b && c > d) f<<1>>2;", "\\", "'", "\"", "R\"(",
               "/*", "//", "#", "# define", "#define", "R\"x(a)y\" <<");
  CAPTURE(source);
  CHECK(rewritten(source) == source);
}

TEST_CASE("the file's name is escaped in the line directive", "[rewriter][text]") {
  CHECK(simt::rewrite("", "a \"b\"\\c.cu") == "#line 1 \"a \\\"b\\\"\\\\c.cu\"\n");
}

TEST_CASE("a byte order mark is dropped and does not hide the first line", "[rewriter][text]") {
  CHECK(rewritten("\xef\xbb\xbf#define GO k<<<1, 2>>>()\n") ==
        "#define GO " + launch("k", "1, 2", "") + "\n");
}

TEST_CASE("launches in comments and literals stay as they are", "[rewriter][text]") {
  const std::string source =
      GENERATE(as<std::string>{}, "// k<<<1, 2>>>(x)\n", "// continued \\\n k<<<1, 2>>>(x)\n",
               "/* k<<<1, 2>>>(x)\n */", "/* // */ int x; /* \" */ int y; /* k<<<1>>> */",
               "\"k<<<1, 2>>>(x)\"", "\"\\\"k<<<\"", "u8\"<<<\" L'<' U\"<<<\"", "R\"(\"<<<)\"",
               "LR\"x(<<< )\" )y\" )x\"", "u8R\"(// <<<)\"", "'<<<'", "'\\'', \"<<<\"", "\"a\\\n<<<\"",
               "1'000'000; \"<<<\"", "0x1'fp-3'0; '<'", "operator\"\"_x; \"<<<\"_x", "/\\\n/ k<<<",
               "/\\\n* k<<< *\\\n/ int x;", "// c\\  \nk<<<", "R\\\n\"(<<<)\"");
  CAPTURE(source);
  CHECK(rewritten(source) == source);
  CHECK(rewritten(source + "\nk<<<1, 2>>>(x);") == source + "\n" + launch("k", "1, 2", "x") + ";");
}

TEST_CASE("directives other than macro definitions stay as they are", "[rewriter][text]") {
  const std::string source =
      GENERATE(as<std::string>{}, "#include <<<x>>>\n", "#include \"k<<<1>>>\"\n", "#include <a//b> // <<<\n",
               "#error don't <<<\n", "#pragma omp <<< \\\n <<<\n", "  #  pragma once <<<\n",
               "#if A <<< B\n#endif\n", "/* c */ #error <<<\n", "#error /* \n */ <<<\n",
               "#define X \"<<<\"\n", "#define X // <<<\n", "#undef x <<<\n", "#line 3 \"<<<\"\n");
  CAPTURE(source);
  CHECK(rewritten(source) == source);
  CHECK(rewritten(source + "k<<<1, 2>>>(x);") == source + launch("k", "1, 2", "x") + ";");
}

TEST_CASE("a # in the middle of a line begins no directive", "[rewriter][text]") {
  CHECK(rewritten("x /* \n */ #define G k<<<1, 2>>>(x);") ==
        "x /* \n */ #define G " + launch("k", "1, 2", "x") + ";");
}

TEST_CASE("tokens that a backslash-newline cuts are whole", "[rewriter][text]") {
  CHECK(rewritten("k<\\\n<<1, 2>\\\n>>(x);") ==
        "::simt::launch(\"k\", ::simt::LaunchConfig(\n1, 2), " + lambdas("k") + ")\n(x);");
  CHECK(rewritten("ker\\\nnel<<<1, 2>>>(x);") ==
        "::simt::launch(\"kernel\", \n::simt::LaunchConfig(1, 2), " + lambdas("kernel") + ")(x);");
  CHECK(rewritten("extern __sha\\\nred__ float s[];") ==
        "static thread_local float* const s SIMT_DYNAMIC_LABEL = ::simt::dynamic_shared<float>()\n;");
}

TEST_CASE("comments and line breaks inside a launch keep their lines", "[rewriter][text]") {
  CHECK(
      rewritten("k // name\n<T, /* two\nlines */ U>\n<<<1, // blocks\n2>>>\n(x, // first\ny);\nint after;") ==
      "::simt::launch(\"k <T, U>\", \n\n\n::simt::LaunchConfig(1, // blocks\n2), " + lambdas("k <T, U>") +
          ")\n(x, // first\ny);\nint after;");
}

TEST_CASE("Windows line ends stay Windows line ends", "[rewriter][text]") {
  CHECK(rewritten("k<\r\nT><<<1, 2>>>(x);\r\n") ==
        "::simt::launch(\"k< T>\", \r\n::simt::LaunchConfig(1, 2), " + lambdas("k< T>") + ")(x);\r\n");
  CHECK(rewritten("#define G \\\r\n k< \\\r\n T><<<1, 2>>>()\r\nint x;") ==
        "#define G \\\r\n ::simt::launch(\"k< T>\",  \\\r\n::simt::LaunchConfig(1, 2), " + lambdas("k< T>") +
            ")()\r\nint x;");
}

TEST_CASE("brackets are matched through both branches of a conditional", "[rewriter][text]") {
  CHECK(rewritten("k<<<1, 2>>>(\n#if A\nf(1,\n#else\nf(2,\n#endif\nNULL), NULL);") ==
        launch("k", "1, 2", "\n#if A\nf(1,\n#else\nf(2,\n#endif\nNULL), nullptr") + ";");
}

TEST_CASE("a launch may begin in either branch of a conditional", "[rewriter][text]") {
  CHECK(rewritten("#ifdef BIG\nk<<<1, 2>>>(\n#else\nj<<<1, 2>>>(\n#endif\nx, NULL);") ==
        "#ifdef BIG\n::simt::launch(\"k\", ::simt::LaunchConfig(1, 2), " + lambdas("k") +
            ")(\n#else\n::simt::launch(\"j\", ::simt::LaunchConfig(1, 2), " + lambdas("j") +
            ")(\n#endif\nx, nullptr);");
}

TEST_CASE("a directive inside a kernel's name is refused", "[rewriter][text][error]") {
  CHECK_THAT(refusal("k<\n#if A\nint\n#else\nlong\n#endif\n><<<1, 2>>>(x);"),
             Catch::Matchers::StartsWith("2: A preprocessor directive stands in the middle"));
}

TEST_CASE("50 MB of plain C++ come out as they went in", "[rewriter][text]") {
  const std::string line =
      "  const auto value_1 = compute<Type>(argument, 1'000.0f) << 3;  // about \"this\"\n";
  std::string source = "__global__ void k(int);\n";
  constexpr std::size_t kBytes = 50'000'000;
  source.reserve(kBytes + line.size());
  while (source.size() < kBytes) source += line;
  const std::string result = simt::rewrite(source, "file.cu");
  const std::size_t plain = source.find('\n') + 1;  // where it begins
  REQUIRE(result.size() > source.size() - plain);
  CHECK(result.compare(result.size() - (source.size() - plain), std::string::npos, source, plain) == 0);
}
