// Tests of lesson 13.

#include "13_attention_sinks/attention_sinks.hpp"

#include "attention/checks.hpp"
#include "grading/lesson_test.hpp"

using namespace course;
using namespace course::grading;
using namespace course::attention_tests;

namespace {

Outcome attend(const Problem& p, Forward& got, const CallOptions& options) {
  const auto call_sink = [&](const auto& sink) {
    return call_with(options, ENTRY(attention_with_sinks), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), sink,
                     out(got.O, "O"), out(got.lse, "lse"), p.scale, p.mask.window, p.mask.sinks);
  };
  return p.sink ? call_sink(in(*p.sink, "sink")) : call_sink(null());
}
const Kernel kKernel{attend};

}  // namespace

TEST_CASE("attends", "[l13][attention_sinks][points:30]") {
  for (const Sizes& n :
       {Sizes{2, 4, 70, 90, 37}, {1, 2, 150, 140, 100}, {1, 1, 300, 300, 128}, {1, 2, 129, 65, 16}}) {
    for (Int w : {1, 3, 64, 1000})
      for (Int s : {0, 1, 4, 100})
        check(kKernel, random_problem(n, {.causal = true, .window = w, .sinks = s}));
    check(kKernel, with_sink(random_problem(n, {.causal = true, .window = 40, .sinks = 4})));
  }
}
