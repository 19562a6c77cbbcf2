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

Tensor<float> read_array(RunContext& run, const char* name, const std::vector<std::string>& dimensions,
                         std::optional<Format16> format) {
  if (!format) return run.input<float>(name, dimensions);
  return *format == Format16::bfloat16 ? widened(run.input<bfloat16>(name, dimensions))
                                       : widened(run.input<float16>(name, dimensions));
}

void write_array(RunContext& run, const std::string& name, const Tensor<float>& x,
                 std::optional<Format16> format) {
  if (!format) return run.output(name, x);
  if (*format == Format16::bfloat16) return run.output(name, narrowed<bfloat16>(x));
  run.output(name, narrowed<float16>(x));
}

Problem read_problem(RunContext& run, const Takes& takes) {
  const char* heads = takes.grouped ? "kv_heads" : "heads";
  const std::optional<Format16> format =
      takes.sixteen_bits ? std::optional(run.input_format("q")) : std::nullopt;
  Tensor<float> Q = read_array(run, "q", {"batch", "heads", "queries", "dim"}, format);
  Tensor<float> K = read_array(run, "k", {"batch", heads, "keys", "dim"}, format);
  Tensor<float> V = read_array(run, "v", {"batch", heads, "keys", "dim"}, format);
  const Int H = Q.shape()[1], H_kv = K.shape()[1];
  if (H_kv == 0 ? H != 0 : H % H_kv != 0)
    throw RunError("q.npy has " + std::to_string(H) + " heads and k.npy has " + std::to_string(H_kv) +
                       "; the number of heads of k must divide that of q.",
                   true);
  const double scale = run.number("scale", 1.0 / std::sqrt(static_cast<double>(Q.shape()[3])));
  Problem p{std::move(Q), std::move(K), std::move(V), static_cast<float>(scale), read_mask(run, takes)};
  p.format = format;
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
  for (const Which which : outputs)
    write_array(run, file_of(which), results.of(which), which == Which::O ? p.format : std::nullopt);
}

}  // namespace course::attention_tests
