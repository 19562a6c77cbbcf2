// Tests of lesson 12.

#include "12_sliding_window/sliding_window.hpp"

#include "attention/checks.hpp"
#include "grading/lesson_test.hpp"

using namespace course;
using namespace course::grading;
using namespace course::attention_tests;

namespace {

const Kernel kKernel{[](const Problem& p, Forward& got, const CallOptions& options) {
                       return call_with(options, ENTRY(sliding_window_attention), in(p.Q, "Q"), in(p.K, "K"),
                                        in(p.V, "V"), out(got.O, "O"), out(got.lse, "lse"), p.scale,
                                        p.mask.window);
                     },
                     {Which::lse, Which::O}};

}  // namespace

TEST_CASE("attends", "[l12][sliding_window][points:30]") {
  for (const Sizes& n : {Sizes{2, 4, 70, 90, 37},
                         {1, 2, 150, 140, 100},
                         {1, 1, 300, 300, 128},
                         {1, 2, 129, 65, 16},
                         {2, 1, 1, 7, 1}}) {
    for (Int w : {1, 3, 63, 64, 65, 1000}) check(kKernel, random_problem(n, {.causal = true, .window = w}));
  }
}

COURSE_RUN(RunContext& run) {
  run_attention(run, {.causal = Causal::always, .window = true}, {Which::lse, Which::O},
                [&](const Problem& p, Forward& got) {
                  run.call(ENTRY(sliding_window_attention), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"),
                           out(got.O, "O"), out(got.lse, "lse"), p.scale, p.mask.window);
                });
}
