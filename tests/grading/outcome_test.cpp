#include "grading/outcome.hpp"

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
        "function "
        "leaves early.");
}

TEST_CASE("what was printed follows the reason, and is no reason itself") {
  Outcome outcome = returned();
  outcome.printed = "i = 3";
  CHECK(why_not_clean(outcome).empty());
  outcome.violations = {"Your code did something."};
  CHECK(why_not_clean(outcome) == "Your code did something.\nYour code printed:\ni = 3");
}
