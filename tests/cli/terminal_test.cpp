#include "cli/terminal.hpp"

#include "support/catch.hpp"

using namespace course::cli;

TEST_CASE("characters of double width count two columns") {
  CHECK(columns_of("é") == 1);
  CHECK(columns_of("山田") == 4);
  CHECK(columns_of("가🎓a") == 5);
  CHECK(wrap("  山田山田", 0, 7) == "  山...\n");
}

TEST_CASE("wraps at spaces and indents every line", "[cli]") {
  CHECK(wrap("one two three", 0, 7) == "one two\nthree\n");
  CHECK(wrap("one two three", 2, 9) == "  one two\n  three\n");
  CHECK(wrap("", 2, 10).empty());
}

TEST_CASE("keeps line breaks, and cuts code instead of wrapping it", "[cli]") {
  CHECK(wrap("a\nb", 1, 10) == " a\n b\n");
  CHECK(wrap("  int x = some_long_name;", 0, 10) == "  int x...\n");
}

TEST_CASE("breaks a word that is longer than a line", "[cli]") {
  CHECK(wrap("abcdefgh", 0, 3) == "abc\ndef\ngh\n");
}

TEST_CASE("counts columns, not bytes", "[cli]") {
  CHECK(columns_of("Größe") == 5);
  CHECK(wrap("ä ö ü", 0, 3) == "ä ö\nü\n");
  CHECK(wrap("äöü", 0, 2) == "äö\nü\n");
}
