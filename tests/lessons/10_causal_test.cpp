// Tests of lesson 10.

#include "10_causal/causal.hpp"

#include "attention/checks.hpp"
#include "grading/lesson_test.hpp"

using namespace course;
using namespace course::grading;
using namespace course::attention_tests;

namespace {

const Kernel kKernel{[](const Problem& p, Forward& got, const CallOptions& options) {
                       return call_with(options, ENTRY(causal_attention), in(p.Q, "Q"), in(p.K, "K"),
                                        in(p.V, "V"), out(got.O, "O"), out(got.lse, "lse"), p.scale);
                     },
                     {Which::lse, Which::O}};

}  // namespace

TEST_CASE("attends", "[l10][causal][points:30]") {
  for (const Sizes& n : {Sizes{2, 4, 70, 90, 37},
                         {1, 2, 150, 140, 100},
                         {1, 1, 300, 300, 128},
                         {1, 2, 129, 65, 16},
                         {2, 1, 1, 7, 1}}) {
    check(kKernel, random_problem(n, {.causal = true}));
  }
}

COURSE_RUN(RunContext& run) {
  run_attention(run, {.causal = Causal::always}, {Which::lse, Which::O}, [&](const Problem& p, Forward& got) {
    run.call(ENTRY(causal_attention), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), out(got.O, "O"),
             out(got.lse, "lse"), p.scale);
  });
}
