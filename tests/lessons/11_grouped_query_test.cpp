// Tests of lesson 11.

#include "11_grouped_query/grouped_query.hpp"

#include "attention/checks.hpp"
#include "grading/lesson_test.hpp"

using namespace course;
using namespace course::grading;
using namespace course::attention_tests;

namespace {

const Kernel kKernel{[](const Problem& p, Forward& got, const CallOptions& options) {
                       return call_with(options, ENTRY(grouped_query_attention), in(p.Q, "Q"), in(p.K, "K"),
                                        in(p.V, "V"), out(got.O, "O"), out(got.lse, "lse"), p.scale,
                                        p.mask.causal);
                     },
                     {Which::lse, Which::O},
                     {},
                     true};

}  // namespace

TEST_CASE("attends", "[l11][grouped_query][points:30]") {
  for (const Sizes& n : {Sizes{2, 4, 70, 90, 37, 2},
                         {1, 2, 150, 140, 100, 1},
                         {1, 1, 300, 300, 128},
                         {1, 2, 129, 65, 16},
                         {2, 1, 1, 7, 1}}) {
    check(kKernel, random_problem(n, {.causal = true}));
    check(kKernel, random_problem(n));
  }
}

COURSE_RUN(RunContext& run) {
  run_attention(run, {.causal = Causal::choice, .grouped = true}, {Which::lse, Which::O},
                [&](const Problem& p, Forward& got) {
                  run.call(ENTRY(grouped_query_attention), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"),
                           out(got.O, "O"), out(got.lse, "lse"), p.scale, p.mask.causal);
                });
}
