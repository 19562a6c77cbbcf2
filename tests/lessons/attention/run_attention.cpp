#include <cmath>
#include <string>

#include "attention/check_parts.hpp"
#include "attention/checks.hpp"
#include "grading/testing/run.hpp"

namespace course::attention_tests {

using namespace course::grading;

namespace {

std::string file_of(Which which) { return which == Which::O ? "o" : name_of(which); }

}  // namespace

Problem read_problem(RunContext& run, const Takes& takes) {
  const char* heads = takes.grouped ? "kv_heads" : "heads";
  Tensor<float> Q = run.input<float>("q", {"batch", "heads", "queries", "dim"});
  Tensor<float> K = run.input<float>("k", {"batch", heads, "keys", "dim"});
  Tensor<float> V = run.input<float>("v", {"batch", heads, "keys", "dim"});
  const Int H = Q.shape()[1], H_kv = K.shape()[1];
  if (H_kv == 0 ? H != 0 : H % H_kv != 0)
    throw RunError("q.npy has " + std::to_string(H) + " heads and k.npy has " + std::to_string(H_kv) +
                       "; the number of heads of k must divide that of q.",
                   true);
  const double scale = run.number("scale", 1.0 / std::sqrt(static_cast<double>(Q.shape()[3])));
  Problem p{std::move(Q), std::move(K), std::move(V), static_cast<float>(scale), read_mask(run, takes)};
  if (run.has_input("sink")) {
    if (!takes.sink_array)
      throw RunError("There is a sink.npy, but this lesson's kernel takes no learned sink.", true);
    p.sink = run.input<float>("sink", {"heads"});
  }
  return p;
}

void run_attention(RunContext& run, const Takes& takes, const std::vector<Which>& outputs,
                   const std::function<void(const Problem&, Forward&)>& call) {
  const Problem p = read_problem(run, takes);
  Forward results = results_of(p);
  call(p, results);
  for (const Which which : outputs) run.output(file_of(which), results.of(which));
}

}  // namespace course::attention_tests
