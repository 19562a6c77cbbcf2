#include "simt/report/text_layout.hpp"

#include "samples.hpp"
#include "support/catch.hpp"

using namespace simt::report;

TEST_CASE("counts are exact up to ten million", "[report][layout]") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1000) == "1,000");
  CHECK(count_text(9'999'999) == "9,999,999");
  CHECK(count_text(10'000'000) == "10.0M");
  CHECK(count_text(999'960'000) == "1.0G");
  CHECK(count_text(~std::uint64_t{0}) == "18.4E");
}

TEST_CASE("ratios have one decimal, also of nothing", "[report][layout]") {
  CHECK(ratio_text(9, 2) == "4.5");
  CHECK(ratio_text(0, 0) == "0.0");
}

TEST_CASE("shapes lose their trailing ones", "[report][layout]") {
  CHECK(shape_text({256, 1, 1}) == "256");
  CHECK(shape_text({16, 16, 1}) == "(16,16)");
  CHECK(shape_text({1, 1, 4}) == "(1,1,4)");
}

TEST_CASE("text is cut between characters", "[report][layout]") {
  CHECK(fit("short", 5) == "short");
  CHECK(fit("longer", 5) == "lo...");
  CHECK(fit("äöüäöü", 5) == "äö...");
  CHECK(columns_of(fit("äöüäöü", 5)) == 5);
}

TEST_CASE("wrapping keeps words whole and indents what follows", "[report][layout]") {
  CHECK(wrap("one two three", 2, 8) == "one two\n  three\n");
  CHECK(wrap("one two three", 2, 0) == "one two three\n");
  CHECK(wrap("a word_that_is_too_long here", 2, 10) == "a\n  word_that_is_too_long\n  here\n");
}

TEST_CASE("a source line that is not there is empty", "[report][layout]") {
  const samples::Folder folder;
  Sources sources(folder.path());
  CHECK(sources.line("transpose.cu", 5) == "  __syncthreads();");
  CHECK(sources.line("transpose.cu", 99).empty());
  CHECK(sources.line("transpose.cu", 0).empty());
  CHECK(sources.line("none.cu", 1).empty());
  CHECK(sources.line("", 1).empty());
}
