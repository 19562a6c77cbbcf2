#include "cli/hints.hpp"

#include <cctype>
#include <set>
#include <sstream>
#include <utility>

#include "cli/hint_text.hpp"
#include "cli/terminal.hpp"
#include "grading/subprocess.hpp"
#include "support/catch.hpp"

using namespace course::cli;
using Catch::Matchers::ContainsSubstring;
using course::grading::Lesson;
using course::grading::read_file;
using course::grading::read_lessons;

namespace {

std::string plain(const std::string& markdown, std::size_t width = 80) {
  return plain_text(markdown, "lessons/04_safe_softmax", 2, width);
}

}  // namespace

TEST_CASE("hints lie between their headings", "[cli][hints]") {
  const auto hints = parse_hints(
      "# Hints\n\nRead on.\n\n## 1. Where to start\n\nHere.\n\n\n## 2. The end\nThere,\nnot here.\n");
  REQUIRE(hints.size() == 2);
  CHECK(hints[0].title == "Where to start");
  CHECK(hints[0].text == "Here.\n");
  CHECK(hints[1].title == "The end");
  CHECK(hints[1].text == "There,\nnot here.\n");
}

TEST_CASE("a heading inside code is code", "[cli][hints]") {
  const auto hints =
      parse_hints("## 1. Code\n\n```\n## 2. no heading\n```\n\n## 2. More\n\n    ## indented\n");
  REQUIRE(hints.size() == 2);
  CHECK(hints[0].text == "```\n## 2. no heading\n```\n");
  CHECK(hints[1].text == "    ## indented\n");
}

TEST_CASE("hints written on Windows have no line end left", "[cli][hints]") {
  const auto hints = parse_hints("## 1. One\r\n\r\nText.\r\n");
  REQUIRE(hints.size() == 1);
  CHECK(hints[0].title == "One");
  CHECK(hints[0].text == "Text.\n");
}

TEST_CASE("hints that are missing, out of order or empty are named", "[cli][hints]") {
  CHECK_THROWS_WITH(parse_hints(""), ContainsSubstring("there is no hint"));
  CHECK_THROWS_WITH(parse_hints("## 1. One\nx\n## 3. Three\nx\n"),
                    ContainsSubstring("\"## 3. Three\" should be \"## 2. \""));
  CHECK_THROWS_WITH(parse_hints("## Start\nx\n"), ContainsSubstring("should be \"## 1. \" and a title"));
  CHECK_THROWS_WITH(parse_hints("## 1. \nx\n"), ContainsSubstring("and a title"));
  CHECK_THROWS_WITH(parse_hints("## 1. One\n\n\n## 2. Two\nx\n"), ContainsSubstring("\"One\" is empty"));
}

TEST_CASE("the hints of every lesson can be read and shown", "[cli][hints]") {
  const std::vector<Lesson> lessons = read_lessons(COURSE_PROJECT);
  REQUIRE(lessons.size() >= 18);
  for (const Lesson& lesson : lessons) {
    CAPTURE(lesson.id());
    const auto hints = read_hints(lesson);
    CHECK(hints.size() >= 3);
    CHECK(hints.size() <= 5);
    for (const Hint& hint : hints) {
      const std::string text = plain_text(hint.text, "lessons/" + lesson.id(), 2, 80);
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        CAPTURE(line);
        CHECK(columns_of(line) <= 80);
        const bool bare = line.find("```") == std::string::npos && line.find("](..") == std::string::npos &&
                          line.find("**") == std::string::npos;
        CHECK(bare);
      }
    }
  }
}

TEST_CASE("the words of a hint all come through", "[cli][hints]") {
  const auto words_in = [](const std::string& text) {
    std::multiset<std::string> words;
    std::string word;
    for (const char c : text + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
        word += c;
      } else if (!word.empty()) {
        words.insert(std::exchange(word, ""));
      }
    }
    return words;
  };
  std::size_t count = 0;
  for (const Lesson& lesson : read_lessons(COURSE_PROJECT)) {
    for (const Hint& hint : read_hints(lesson)) {
      CAPTURE(lesson.id(), hint.title);
      if (hint.text.find("](") != std::string::npos) continue;  // a link's target is another from here
      CHECK(words_in(hint.text) == words_in(plain_text(hint.text, "lessons/" + lesson.id(), 2, 80)));
      ++count;
    }
  }
  CHECK(count > 50);
}

TEST_CASE("lines of a paragraph are joined and wrapped", "[cli][hints]") {
  CHECK(plain("one two\nthree four\n\nfive\n", 12) == "  one two\n  three four\n\n  five\n");
}

TEST_CASE("lists keep their marks, and what is wrapped hangs", "[cli][hints]") {
  CHECK(plain("These:\n\n- one two\n  three\n- four\n", 13) ==
        "  These:\n\n  - one two\n    three\n  - four\n");
  CHECK(plain("1. one two\n   three\n10. four\n", 12) == "  1. one two\n     three\n  10. four\n");
}

TEST_CASE("code keeps its lines and its indentation", "[cli][hints]") {
  CHECK(plain("So:\n\n    for (;;)\n      f();\n\nand\n") ==
        "  So:\n\n      for (;;)\n        f();\n\n  and\n");
  CHECK(plain("```cpp\na  *b* [x](y)\n\n  c\n```\n") == "      a  *b* [x](y)\n\n        c\n");
}

TEST_CASE("a long line of code goes on in the next, and its comment stays one", "[cli][hints]") {
  CHECK(plain("    first = second + third;\n", 24) == "      first = second +\n          third;\n");
  CHECK(plain("    a = b;  // the loop over heads\n", 24) ==
        "      a = b;  // the\n          // loop over\n          // heads\n");
  CHECK(plain("    a_word_that_is_longer_than_a_line\n", 20) == "      a_word_that_is_longer_than_a_line\n");
}

TEST_CASE("marks of emphasis go, and several words get quotes", "[cli][hints]") {
  CHECK(plain("in *every* warp, **now**\n") == "  in every warp, now\n");
  CHECK(plain("from *c[0] was never written* on\n") == "  from \"c[0] was never written\" on\n");
  CHECK(plain("a * b * c, `x *y* z`, 2*3*4\n") == "  a * b * c, `x *y* z`, 2*3*4\n");
  CHECK(plain("an \\*asterisk\\*\n") == "  an *asterisk*\n");
}

TEST_CASE("a link says where it leads from the project's folder on", "[cli][hints]") {
  CHECK(plain("in [reduce.hpp](../../common/device/reduce.hpp) it is\n") ==
        "  in common/device/reduce.hpp it is\n");
  CHECK(plain("see [the notes](README.md)\n") == "  see the notes (lessons/04_safe_softmax/README.md)\n");
  CHECK(plain("see [the paper](https://example.org/a)\n") == "  see the paper (https://example.org/a)\n");
}

TEST_CASE("a formula stands further in", "[cli][hints]") {
  CHECK(plain("Then\n\n> l ← e^(m − m_new) · l + Σ P\n") == "  Then\n\n      l ← e^(m − m_new) · l + Σ P\n");
}
