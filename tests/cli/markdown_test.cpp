#include "cli/markdown.hpp"

#include <sstream>

#include "cli/markdown_table.hpp"
#include "support/catch.hpp"

using namespace course::cli;

namespace {

std::string shown(std::string_view markdown, std::size_t width = 80) {
  return markdown_to_text(markdown, MarkdownLayout{.width = width});
}

}  // namespace

TEST_CASE("links become their words, and pictures what they show", "[cli]") {
  CHECK(markdown_words("see [the *two* results](../results/README.md) below") == "see the two results below");
  CHECK(markdown_words("[`a[i]`](x.md#a(b)) and a[10], f[i](j") == "`a[i]` and a[10], f[i](j");
  CHECK(markdown_words("![a curve](a.svg)") == "a curve");
  CHECK(markdown_words("<img src=\"a.svg\" width=\"6\" alt=\"Two plots.\">") == "Picture: Two plots.");
  CHECK(markdown_words("at <https://example.org/a>") == "at https://example.org/a");
}

TEST_CASE("emphasis goes, and a product stays", "[cli]") {
  CHECK(markdown_words("*in one pass*, **and mend it.** So") == "in one pass, and mend it. So");
  CHECK(markdown_words("1.36788 · **e^(3−5)** + e") == "1.36788 · e^(3−5) + e");
  CHECK(markdown_words("a * b, 2*3*4, *p") == "a * b, 2*3*4, *p");
  CHECK(markdown_words("***both*** of **one *in* two**") == "both of one in two");
}

TEST_CASE("underscores are part of names", "[cli]") {
  CHECK(markdown_words("out_of_bounds, __syncthreads() and _this_") ==
        "out_of_bounds, __syncthreads() and _this_");
}

TEST_CASE("code in a line stays as it is", "[cli]") {
  CHECK(markdown_words("`a * b * c`, `[x](y)` and ``a ` b``") == "`a * b * c`, `[x](y)` and ``a ` b``");
  CHECK(markdown_words("`<!-- no --> &lt;`") == "`<!-- no --> &lt;`");
  CHECK(markdown_words("a lonely ` stays") == "a lonely ` stays");
}

TEST_CASE("launches and comparisons are no tags", "[cli]") {
  CHECK(markdown_words("f<<<1, 64>>>(x) if a < b and c > d") == "f<<<1, 64>>>(x) if a < b and c > d");
  CHECK(markdown_words("x<sup>2</sup> &lt; y &amp; \\*z\\*") == "x2 < y & *z*");
}

TEST_CASE("Doxygen's references become their words, and its commands go", "[cli]") {
  CHECK(markdown_words("see @ref grid \"the grid\", @ref warp and me@example.org") ==
        "see the grid, warp and me@example.org");
  CHECK(shown("@page race A race\n[TOC]\nOne.\n\n\\anchor x\n\nTwo.\n") == "  One.\n\n  Two.\n");
}

TEST_CASE("paragraphs are wrapped anew and headings stand out", "[cli]") {
  CHECK(shown("# Race\n\nTwo threads\ntouch one byte.\n## Fix {#fix}\nWait.", 16) ==
        "Race\n\n  Two threads\n  touch one\n  byte.\n\nFix\n  Wait.\n");
  const MarkdownLayout loud{
      .paint_heading = [](std::string_view words) { return "<" + std::string(words) + ">"; }};
  CHECK(markdown_to_text("# Race\n\nA #hash, and\n#none", loud) == "<Race>\n\n  A #hash, and #none\n");
}

TEST_CASE("comments are left out, also those of several lines, and leave no gap", "[cli]") {
  CHECK(shown("One.\n\n<!-- snippet: a.cu broken -->\nTwo.<!-- x --> Three.\n<!-- a\nb -->\nFour.\n") ==
        "  One.\n\n  Two. Three. Four.\n");
  CHECK(shown("<!-- value: x -->128<!-- /value --> bytes") == "  128 bytes\n");
}

TEST_CASE("code blocks keep every character and are cut at no column", "[cli]") {
  const std::string line(90, 'x');
  CHECK(shown("Say:\n\n```cpp\nint *a, *b;  // <!-- kept -->\n\n" + line + "\n```\nDone.") ==
        "  Say:\n\nint *a, *b;  // <!-- kept -->\n\n" + line + "\n  Done.\n");
  CHECK(shown("```\nshort\n  inner\n```") == "    short\n      inner\n");
  CHECK(shown("~~~\n```\n~~~\n") == "    ```\n");
  CHECK(shown("Run\n\n    ./course test\n\n    ./course docs\n\nor not.") ==
        "  Run\n\n    ./course test\n\n    ./course docs\n\n  or not.\n");
  CHECK(shown("```\nnever closed") == "    never closed\n");
}

TEST_CASE("code that is as wide as the screen moves to its left edge", "[cli]") {
  const std::string line(78, 'x');
  CHECK(shown("```\n" + line + "\n```") == "  " + line + "\n");
  CHECK(shown("```\nab ab\n```", 5) == "ab ab\n");
}

TEST_CASE("lists hang behind their marks, and an item may have paragraphs and code", "[cli]") {
  CHECK(shown("1. three arrays;\n2. two copies with\n   `cudaMemcpy`;\n\nCheck.", 20) ==
        "  1. three arrays;\n  2. two copies with\n     `cudaMemcpy`;\n\n  Check.\n");
  CHECK(shown("- one\n  - inner\n- two\n\n  more\n\n  ```\n  x\n  ```\n") ==
        "  - one\n    - inner\n  - two\n\n    more\n\n    x\n");
  CHECK(shown("10. ten\n\nText - with a dash\nand 3.5 more") ==
        "  10. ten\n\n  Text - with a dash and 3.5 more\n");
}

TEST_CASE("each line of a quote is a formula of its own", "[cli]") {
  CHECK(shown("So\n\n> m′ = max(m, x_j)\n> l′ = l · e^(m − m′)\n\nwhere") ==
        "  So\n\n    m′ = max(m, x_j)\n    l′ = l · e^(m − m′)\n\n  where\n");
}

TEST_CASE("tables stand in columns", "[cli]") {
  CHECK(shown("| class | means |\n|---|---:|\n| [race](race.md) | two |\n| `a \\| b` | *x* |\n\nEnd.") ==
        "  class    means\n  -------  -----\n  race     two\n  `a | b`  x\n\n  End.\n");
}

TEST_CASE("a table that is too wide wraps its widest cells", "[cli]") {
  CHECK(shown("| a | words |\n|---|---|\n| first | one two three four |\n", 20) ==
        "  a      words\n  -----  -----------\n  first  one two\n         three four\n");
  CHECK(cells_of("| a | `b | c` | |") == std::vector<std::string>{"a", "`b | c`", ""});
}

TEST_CASE("no line of prose is wider than the screen", "[cli]") {
  const std::string words =
      "- A word of αβγ letters, [links](there) and `code that goes on and on` for quite some time.\n";
  for (std::size_t width = 10; width < 60; ++width) {
    std::istringstream lines(
        shown("# A heading of some words\n\n" + words + "\n> " + words + "\n" + words, width));
    for (std::string line; std::getline(lines, line);) CHECK(columns_of(line) <= width);
  }
}

TEST_CASE("an empty page is empty", "[cli]") {
  CHECK(shown("").empty());
  CHECK(shown("\n\n<!-- only a comment -->\n\n").empty());
  CHECK(shown("|\n|-\n| x") == "  -\n  x\n");
}
