#include "generator.hpp"

#include <algorithm>
#include <vector>

namespace simt::fuzz {
namespace {

class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {}

  Sample file() {
    for (std::size_t i = random_.below(12) + 1; i > 0; --i) {
      piece();
      same("\n");
    }
    return std::move(sample_);
  }

 private:
  static constexpr int kDeepest = 3;

  void same(const std::string& text) {
    sample_.source += text;
    sample_.expected += text;
  }
  void both(const std::string& source, const std::string& expected) {
    sample_.source += source;
    sample_.expected += expected;
  }

  /// White space or a comment; within a macro no line ends without a backslash.
  std::string gap() {
    if (in_macro_)
      return random_.pick<const char*>({"", "", " ", "\t", "/* <<< */", " \\\n  ", "/* a\n >>> */"});
    return random_.pick<const char*>({"", "", "", " ", " ", "\n", "\r\n  ", "/* <<< */", "/* a\n \" */",
                                      "// it's >>>\n", "// a \\\n b\n", "\\\n"});
  }

  std::string breaks(const std::string& text) const {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\n') continue;
      result += in_macro_ ? " \\" : "";
      result += i > 0 && text[i - 1] == '\r' ? "\r\n" : "\n";
    }
    return result;
  }

  void piece() {
    switch (random_.below(9)) {
      case 8:
        return kernel();
      case 0:
        return same(plain());
      case 1:
        return shared();
      case 2:
        return macro();
      case 3:
        return dead_code();
      case 4:
        same(random_.pick<const char*>(
            {"void f() {", "auto f = [&] {", "if (a < b) {", "for (int i = 0; i < n; ++i) {"}));
        same(gap());
        statement();
        return same("}");
      default:
        return statement();
    }
  }

  std::string plain() {
    return random_.pick<const char*>(
        {"int x = 1 << 2 >> 3;", "std::cout << a << \"<<<\";", "A<B<C<D>>> y;",
         "auto s = R\"x(k<<<1>>>(\" )x\";", "char c = '\\'', d = '\"';", "// k<<<1, 2>>>()",
         "/* extern __shared__ int x[]; */", "long n = 1'000'000;", "#include <a<<<b>",
         "#include \"it's.hpp\"", "#pragma unroll <<<", "#error don't", "operator<<<int>(a, b);",
         "__shared__ float tile[4][5];", "#if A < 3\nint z;\n#else\nint w;\n#endif", "int a\\\nb;",
         "x = a < b && c > d;", "f(\"\\\\\");", "u8\"a\" LR\"(\n<<<)\" 'c';"});
  }

  void dead_code() {
    same(random_.pick<const char*>(
        {"#if 0", "#ifdef __CUDA_ARCH__", "#if defined(__CUDA_ARCH__) && X", "#if !1"}));
    same("\nk<<<1, it's\nasm(\"trap;\"); ((( extern __shared__\n#define A b<<<c\n");
    if (random_.one_in(2)) {
      same("#else\n");
      statement();
      same("\n");
    }
    same("#endif");
  }

  void macro() {
    same("#define MACRO ");
    in_macro_ = true;
    if (random_.one_in(3)) {
      dynamic_shared(true);
    } else {
      launch();
    }
    in_macro_ = false;
  }

  void shared() {
    if (random_.one_in(3))
      return both("__shared__ alignas(16) float x[4];", "alignas(16) __shared__  float x[4];");
    dynamic_shared(false);
    same(";");
  }

  /// A kernel whose parameters and shared memory are named.
  void kernel() {
    struct Parameter {
      const char *source, *name;
    };
    same("__global__");
    same(random_.pick<const char*>({" ", "\n", " /* { */ "}));
    struct Head {
      const char *source, *threads;
    };
    const auto head = random_.pick<Head>({{"void kern", ""},
                                          {"void __launch_bounds__(32, 2) kern", "32"},
                                          {"void kern<A<B>>", ""},
                                          {"__launch_bounds__(A<B, (1)>::n) void kern", "A<B, (1)>::n"}});
    same(head.source);
    same("(");
    std::string names;
    for (std::size_t i = random_.below(5); i > 0; --i) {
      const auto parameter = random_.pick<Parameter>({{"int n", "(n)"},
                                                      {"const float* __restrict__ a", "(a)"},
                                                      {"A<B, C> x = f(1, (2))", "(x)"},
                                                      {"T (*rows)[8]", "(rows)"},
                                                      {"Args&&... args", "(args)..."},
                                                      {"std::vector<int>", ""},
                                                      {"void (*f)(int)", ""}});
      same(gap());
      same(parameter.source);
      same(gap());
      if (i > 1) same(",");
      if (*parameter.name == '\0') continue;
      names += (names.empty() ? "SIMT_PARAMETER" : ", SIMT_PARAMETER") + std::string(parameter.name);
    }
    same(")");
    same(gap());
    const std::string threads = head.threads;
    both("{", (names.empty() ? "{" : "{ SIMT_NAME_PARAMETERS(" + names + ");") +
                  (threads.empty() ? "" : " SIMT_LAUNCH_BOUNDS((" + threads + "));"));
    same(gap());
    if (random_.one_in(2)) {
      both("__shared__ T t[4], u;", "__shared__ T t[4], u; SIMT_NAME_SHARED(t); SIMT_NAME_SHARED(u);");
    } else {
      const std::string name = dynamic_shared(true);
      both(";", "; SIMT_NAME_SHARED(" + name + ");");
    }
    same("}");
  }

  /// Declares a dynamic array without the semicolon and returns its name.
  std::string dynamic_shared(bool in_function) {
    const std::string type = random_.pick<const char*>(
        {"float", "unsigned char", "typename A<T>::B", "::ns::V<int, (1 > 2)>", "const T"});
    const std::string name = random_.pick<const char*>({"s", "smem_", "x1"});
    const std::string row = random_.pick<const char*>({"", "", "", "[33]", "[N + 1][2]"});
    std::string attribute = random_.pick<const char*>(
        {"", "", "__align__(16) ", "__align__(T) ", "__attribute__((aligned(8))) "});
    const std::string a = gap(), b = gap(), c = gap();
    std::string words = random_.one_in(4) ? "__shared__ " + a + "extern " : "extern " + a + "__shared__ ";
    if (random_.one_in(2)) {
      words += attribute;
    } else if (words[0] == 'e') {
      words = "extern " + a + attribute + "__shared__ ";
    }
    const std::string declaration = words + b + type + " " + c + name + "[]" + row;
    const std::string pointer = row.empty() ? "* const " + name : " (*const " + name + ")" + row;
    both(declaration, (in_function ? "SIMT_DYNAMIC_SHARED " : "static thread_local ") + type + pointer +
                          (in_function || in_macro_ ? "" : " SIMT_DYNAMIC_LABEL") +
                          " = ::simt::dynamic_shared<" + type + row + ">()" +
                          (in_macro_ ? "; SIMT_NAME_SHARED(" + name + ")" : "") + breaks(declaration));
    return name;
  }

  void statement() {
    same(random_.pick<const char*>({"", "", "if (a < b) ", "else ", "return ", "x = y, ", "{ }", ";"}));
    launch();
    if (random_.one_in(6)) {
      same(", ");
      launch();
    }
    same(gap());
    same(";");
  }

  /// Tokens with random gaps; what lies between two of them counts as one blank or as nothing.
  struct Name {
    std::string source, joined;
  };
  Name name() {
    static const std::vector<std::vector<const char*>> kNames = {
        {"k"},
        {"k"},
        {"k", "<", "T", ">"},
        {"ns", "::", "k"},
        {"(", "*", "fn", ")"},
        {"fns", "[", "i", "]"},
        {"k", "<", "A", "<", "B", ",", "(", "b", ">", "c", ")", ">", ",", "4", ">"},
        {"k", "<", "4", ",", "D", "<", "64", ">"},
        {"o", "->", "k"},
        {"T", "::", "template", "k", "<", "'\"'", ">"},
        {"pick", "(", "n", ")"}};
    const auto& tokens = kNames[random_.below(kNames.size())];
    Name result;
    bool word_before = false;
    for (const char* token : tokens) {
      const bool word =
          (token[0] >= 'a' && token[0] <= 'z') || (token[0] >= 'A' && token[0] <= 'Z') || token[0] == '\'';
      if (!result.source.empty()) {
        std::string between = random_.one_in(3) ? gap() : "";
        const bool apart = !between.empty() && between != "\\\n";
        if (word && word_before && !apart) between = " ";
        result.source += between;
        result.joined += (between.empty() || between == "\\\n") ? "" : " ";
      }
      result.source += token;
      result.joined += token;
      word_before = word;
    }
    return result;
  }

  static std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
    return result;
  }

  void launch() {
    ++depth_;
    const Name kernel = name();
    both(kernel.source, "::simt::launch(\"" + escaped(kernel.joined) + "\", " + breaks(kernel.source));
    same(gap());
    both("<<<", "::simt::LaunchConfig(");
    has_less_ = false;
    const std::size_t values = random_.below(4) + 1;
    for (std::size_t i = 0; i < values; ++i) {
      if (i > 0) same(",");
      same(gap());
      value();
      same(gap());
    }
    const std::string known = "simt_kernel(" + kernel.joined + ")";
    both(">>>", "), [&](auto simt_kernel) -> decltype(" + known + ") { return " + known +
                    "; }, [&](auto&... simt_args) { " + kernel.joined + "(simt_args...); })");
    same(gap());
    const std::size_t count = random_.below(4);
    same("(");
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) same(",");
      same(gap());
      argument();
      same(gap());
    }
    same(")");
    --depth_;
  }

  void value() {
    if (depth_ < kDeepest && random_.one_in(10)) return lambda();
    // A second bare '<' could read as a template argument list, to people as well.
    if (!has_less_ && random_.one_in(6)) {
      has_less_ = true;
      return same("a < b ? 1 : 2");
    }
    same(random_.pick<const char*>({"1", "n", "dim3(1, 2)", "{1, 2}", "f<A<B<C>>>(1, 2)", "(n >> 2)",
                                    "n >> 2", "v<A>", "v<A<B>>", "'>'", "\">>>\"", "1'000", "s->n",
                                    "sizeof(T[4])", "a >= b", "R\"(>>>)\""}));
  }

  void argument() {
    if (depth_ < kDeepest && random_.one_in(8)) return lambda();
    if (random_.one_in(6)) return both("NULL", "nullptr");
    same(random_.pick<const char*>({"x", "a[i]", "f(NULL, x)", "A<B, C>{1, 2}", "\",)(\"", "')'", "x == NULL",
                                    "(a, b)", "1 << 2", "R\"q())q\"", "*p", "n < m", "a > b"}));
  }

  void lambda() {
    const bool outer = has_less_;
    same("[&] { ");
    launch();
    same("; return 3; }()");
    has_less_ = outer;
  }

  Random& random_;
  Sample sample_;
  bool in_macro_ = false;
  bool has_less_ = false;
  int depth_ = 0;
};

}  // namespace

Sample generate(Random& random) { return Generator(random).file(); }

std::string mutate(std::string text, Random& random) {
  for (std::size_t i = random.below(8) + 1; i > 0; --i) {
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length =
        std::min(text.size() - at, random.one_in(4) ? random.below(64) : random.below(4));
    switch (random.below(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(at, length));
        break;
      case 2:
        text.insert(at, 1, static_cast<char>(random.below(256)));
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(random.below(256));
        break;
      case 4:
        text.insert(random.below(text.size() + 1), text.substr(at, length));
        break;
      default:
        text.insert(at, random.pick<const char*>({"<<<",
                                                  ">>>",
                                                  "<",
                                                  ">",
                                                  "(",
                                                  ")",
                                                  "[",
                                                  "]",
                                                  "{",
                                                  "}",
                                                  ",",
                                                  ";",
                                                  "\"",
                                                  "'",
                                                  "R\"(",
                                                  ")\"",
                                                  "/*",
                                                  "*/",
                                                  "//",
                                                  "\n",
                                                  "\r\n",
                                                  "\\\n",
                                                  "\\ \n",
                                                  "#",
                                                  "##",
                                                  "\n#define k(a, ...) ",
                                                  "\n#if 0\n",
                                                  "\n#if A\n",
                                                  "\n#else\n",
                                                  "\n#elif __CUDA_ARCH__ >= 8 || !(B)\n",
                                                  "\n#endif\n",
                                                  "extern ",
                                                  "__shared__ ",
                                                  "__global__ void ",
                                                  "__noinline__ ",
                                                  "asm(\"a;\")",
                                                  "NULL",
                                                  "::",
                                                  "->",
                                                  ".",
                                                  "template ",
                                                  "operator",
                                                  "alignas(",
                                                  "static ",
                                                  "struct ",
                                                  "=",
                                                  "k<T>",
                                                  "if (",
                                                  "__VA_ARGS__",
                                                  "\n#include \"",
                                                  "1'0",
                                                  "a b*"}));
    }
  }
  return text;
}

}  // namespace simt::fuzz
