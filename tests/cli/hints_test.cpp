#include "cli/hints.hpp"

#include <cctype>
#include <set>
#include <sstream>
#include <utility>

#include "cli/markdown.hpp"
#include "cli/terminal.hpp"
#include "grading/base/subprocess.hpp"
#include "support/catch.hpp"

using namespace course::cli;
using Catch::Matchers::ContainsSubstring;
using course::grading::Lesson;
using course::grading::read_file;
using course::grading::read_lessons;

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
      const std::string text = markdown_to_text(hint.text, MarkdownLayout{});
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
      if (hint.text.find("](") != std::string::npos) continue;  // a link's target goes
      CHECK(words_in(hint.text) == words_in(markdown_to_text(hint.text, MarkdownLayout{})));
      ++count;
    }
  }
  CHECK(count > 50);
}
