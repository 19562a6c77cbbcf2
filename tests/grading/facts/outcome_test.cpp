#include "grading/facts/outcome.hpp"

#include "grading/facts/words.hpp"

#include "support/catch.hpp"

using namespace course::grading;

namespace {

Outcome returned() {
  Outcome outcome;
  outcome.status = Status::returned;
  return outcome;
}

}  // namespace

TEST_CASE("a return that leaves nothing behind is clean") {
  CHECK(why_not_clean(returned()).empty());
  CHECK(side_effects(returned()).empty());
}

TEST_CASE("an outcome that nobody filled in is not clean") { CHECK_FALSE(why_not_clean(Outcome{}).empty()); }

TEST_CASE("leaks are counted, and the first is placed where that is known") {
  Outcome outcome = returned();
  outcome.leaks = {{4000, "vector_add.cu", 14}, {4000, "vector_add.cu", 15}};
  outcome.leak_count = 2;
  outcome.leak_bytes = 8000;
  CHECK(why_not_clean(outcome) ==
        "2 device allocations (8000 bytes) are never freed; the first is made at vector_add.cu:14. Call "
        "cudaFree for "
        "every cudaMalloc, also where the function leaves early.");
  outcome.leaks = {{8, "", 0}};
  outcome.leak_count = 1;
  outcome.leak_bytes = 8;
  CHECK(why_not_clean(outcome) ==
        "1 device allocation (8 bytes) is never freed. Call cudaFree for every cudaMalloc, also where the "
        "function leaves early.");
}

TEST_CASE("printing alone is no reason to fail") {
  Outcome outcome = returned();
  outcome.printed = "i = 3";
  CHECK(why_not_clean(outcome).empty());
}

TEST_CASE("of what was printed, the last five lines are shown") {
  CHECK(printed_part("").empty());
  CHECK(printed_part("i = 3") == "\nYour code printed:\ni = 3");
  CHECK(printed_part("1\n2\n3\n4\n5") == "\nYour code printed:\n1\n2\n3\n4\n5");
  CHECK(printed_part("1\n2\n3\n4\n5\n6") == "\nYour code printed:\n...\n2\n3\n4\n5\n6");
  CHECK(printed_part("\n\n3\n4\n5\n") == "\nYour code printed:\n...\n\n3\n4\n5\n");
}
