#include "grading/calls/printed_tail.hpp"

#include <algorithm>
#include <string>

#include "support/catch.hpp"

using course::grading::PrintedTail;

TEST_CASE("nothing printed is nothing shown") { CHECK(PrintedTail().lines().empty()); }

TEST_CASE("a few lines are shown as they are") {
  PrintedTail tail;
  tail.append("one\ntw");
  tail.append("o\n");
  CHECK(tail.lines() == "one\ntwo");
  tail.clear();
  CHECK(tail.lines().empty());
}

TEST_CASE("of many lines the last are shown") {
  PrintedTail tail;
  for (int i = 0; i < 1000; ++i) tail.append("line " + std::to_string(i) + "\n");
  const std::string lines = tail.lines();
  CHECK(lines.starts_with("...\nline 980\n"));
  CHECK(lines.ends_with("line 999"));
}

TEST_CASE("endless output takes bounded memory and gives bounded lines") {
  PrintedTail tail;
  for (int i = 0; i < 1000; ++i) tail.append(std::string(100000, 'x'));
  CHECK(tail.lines().size() < PrintedTail::kLines * (PrintedTail::kColumns + 1) + 4);
}

TEST_CASE("control characters do not reach the terminal") {
  PrintedTail tail;
  tail.append("\x1b[31mred\x1b[0m\a\tend\r\n");
  CHECK(tail.lines() == "[31mred[0m end");
}
