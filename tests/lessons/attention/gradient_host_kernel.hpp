#pragma once
/// @file
/// Backward kernels that compute on the host what the model gives, for tests of the checks.

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attention/gradient_checks.hpp"

namespace course::attention_tests {

using Deviations = std::vector<std::pair<Gradient, GradientDeviation>>;

inline void fill(Tensor<float>& to, const Tensor<double>& from) {
  for (Int i = 0; i < to.numel(); ++i) to.at_linear(i) = static_cast<float>(from.at_linear(i));
}

/// Shapes and rows as the contracts want them; throws what they throw.
inline void require_arguments(const BackwardProblem& p, const Backward& got, Int max_dim) {
  const Shape &q = p.Q.shape(), &k = p.K.shape();
  const auto refuse = [](const std::string& name) { throw std::invalid_argument(name + " does not fit"); };
  if (q[3] < 1 || q[3] > max_dim) refuse("Q");
  if (k[0] != q[0] || k[3] != q[3] || k[1] > q[1] || (k[1] == 0 ? q[1] != 0 : q[1] % k[1] != 0)) refuse("K");
  if (p.V.shape() != k) refuse("V");
  const Shape rows{q[0], q[1], q[2]};
  const auto need = [&](const char* name, const Tensor<float>& x, const Shape& shape) {
    if (x.shape() != shape) refuse(name);
    if (shape.size() == 4 && shape[3] > 1 && x.strides()[3] != 1) refuse(name);
  };
  need("Q", p.Q, q), need("K", p.K, k), need("V", p.V, k), need("O", p.O, q), need("dO", p.dO, q);
  need("lse", p.lse, rows), need("delta", got.delta, rows), need("dQ", got.dQ, q);
  need("dK", got.dK, k), need("dV", got.dV, k);
}

/// A kernel of the host that is right but for these deviations.
inline BackwardKernel host_kernel(const Deviations& deviations = {}, bool checks_arguments = true) {
  BackwardKernel kernel;
  kernel.takes = {
      .causal = Causal::choice, .window = true, .sinks = true, .sink_array = true, .grouped = true};
  kernel.attend_backward = [=](const BackwardProblem& p, Backward& got, const grading::CallOptions&) {
    grading::Outcome outcome;
    outcome.status = grading::Status::returned;
    try {
      require_arguments(p, got, 128);
    } catch (const std::invalid_argument& error) {
      if (!checks_arguments) return outcome;
      outcome.status = grading::Status::threw;
      outcome.exception_type = "std::invalid_argument";
      outcome.exception_message = error.what();
      return outcome;
    }
    const bool nothing = p.B() * p.H() == 0 || p.Nq() + p.Nk() == 0;
    outcome.counters["launches"] = nothing && !p.sink ? 0 : 3;
    for (const Gradient which :
         {Gradient::delta, Gradient::dV, Gradient::dK, Gradient::dQ, Gradient::dsink}) {
      GradientDeviation how;
      for (const auto& [where, deviation] : deviations)
        if (where == which) how = deviation;
      fill(got.of(which), deviate(p, how, which));
    }
    return outcome;
  };
  return kernel;
}

inline Backward results(const BackwardKernel& kernel, const BackwardProblem& p) {
  Backward got = results_of(p);
  kernel.attend_backward(p, got, {});
  return got;
}

inline const reference::Mask kMask{.causal = true, .window = 9, .sinks = 2};

inline BackwardProblem small_problem() {
  return with_gradient(with_sink(random_problem({2, 4, 20, 24, 10, 2}, kMask)));
}

}  // namespace course::attention_tests
