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
  Tensor<float> dO = read_array(run, "dout", {"batch", "heads", "queries", "dim"}, problem.format);
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
  write_array(run, "o", p.O, p.format);
  run.output("lse", p.lse);
  run.output("delta", got.delta);
  write_array(run, "dq", got.dQ, p.format);
  write_array(run, "dk", got.dK, p.format);
  write_array(run, "dv", got.dV, p.format);
  if (p.sink) run.output("dsink", got.dsink);
}

}  // namespace course::attention_tests
