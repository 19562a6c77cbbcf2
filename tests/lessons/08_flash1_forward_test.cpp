// Tests of lesson 08.

#include "08_flash1_forward/flash1_forward.hpp"

#include "attention/checks.hpp"
#include "grading/lesson_test.hpp"

using namespace course;
using namespace course::grading;
using namespace course::attention_tests;

namespace {

const Kernel kKernel{[](const Problem& p, Forward& got, const CallOptions& options) {
                       return call_with(options, ENTRY(flash1_forward), in(p.Q, "Q"), in(p.K, "K"),
                                        in(p.V, "V"), out(got.O, "O"), out(got.l, "l"), out(got.m, "m"),
                                        p.scale);
                     },
                     {Which::m, Which::l, Which::O}};

}  // namespace

TEST_CASE("attends", "[l08][flash1_forward][points:30]") {
  for (const Sizes& n : {Sizes{2, 4, 70, 90, 37},
                         {1, 2, 150, 140, 100},
                         {1, 1, 300, 300, 128},
                         {1, 2, 129, 65, 16},
                         {2, 1, 1, 7, 1}}) {
    check(kKernel, random_problem(n));
  }
}

COURSE_RUN(RunContext& run) {
  run_attention(run, {}, {Which::m, Which::l, Which::O}, [&](const Problem& p, Forward& got) {
    run.call(ENTRY(flash1_forward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), out(got.O, "O"),
             out(got.l, "l"), out(got.m, "m"), p.scale);
  });
}
