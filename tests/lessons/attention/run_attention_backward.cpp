#include <fmt/format.h>

#include <string>

#include "attention/gradient_checks.hpp"
#include "grading/testing/run.hpp"

namespace course::attention_tests {

using namespace course::grading;

void run_attention_backward(RunContext& run, const Takes& takes,
                            const std::function<void(const BackwardProblem&, Backward&)>& call,
                            const std::function<void(const Problem&, Forward&)>& forward) {
  const Problem problem = read_problem(run, takes);
  Tensor<float> dO = run.input<float>("dout", {"batch", "heads", "queries", "dim"});
  BackwardProblem p = with_gradient(problem, std::move(dO));
  if (forward) {
    Forward results = results_of(problem);
    forward(problem, results);
    p.O = results.O, p.lse = results.lse;
  } else {
    fmt::print(
        "o and lse are inputs of this lesson's kernel: they were computed in float64 by the reference.\n");
  }
  Backward got = results_of(p);
  call(p, got);
  run.output("o", p.O);
  run.output("lse", p.lse);
  run.output("delta", got.delta);
  run.output("dq", got.dQ);
  run.output("dk", got.dK);
  run.output("dv", got.dV);
  if (p.sink) run.output("dsink", got.dsink);
}

}  // namespace course::attention_tests
