#include "attention/gradient_problem.hpp"

#include <stdexcept>
#include <utility>

#include "grading/testing/case.hpp"
#include "tensor/random.hpp"

namespace course::attention_tests {
namespace {

Tensor<float> times_identity(Int n, float factor) {
  Tensor<float> x({1, 1, n, n});
  for (Int i = 0; i < n; ++i) x(0, 0, i, i) = factor;
  return x;
}

BackwardProblem identity_problem(Int n, const reference::Mask& mask, bool sink, Tensor<float> Problem::*in) {
  Problem p = random_problem({1, 1, n, n, n}, mask);
  p.*in = times_identity(n, kIdentityFactor);
  if (sink) p = with_sink(std::move(p));
  return with_gradient(p, times_identity(n, 1.0f));
}

}  // namespace

BackwardProblem with_gradient(const Problem& p) {
  Tensor<float> dO = normal(p.shape_of_O(), grading::case_seed() + 3);
  for (float& value : dO.storage()) value += 1.0f;
  return with_gradient(p, std::move(dO));
}

BackwardProblem with_gradient(const Problem& p, Tensor<float> dO) {
  if (dO.shape() != p.shape_of_O()) throw std::invalid_argument("dO needs the shape of Q");
  BackwardProblem all{p, std::move(dO), {}, {}};
  all.exact = attention_of(p);
  if (p.format) {
    round_to(all.dO, *p.format);
    for (double& x : all.exact.O.storage()) x = rounded(x, *p.format);
  }
  all.O = lay_out(all.exact.O.to<float>(), p.layout_of_O);
  all.lse = lay_out(all.exact.lse.to<float>(), p.layout_of_lse);
  all.layout_of_delta = p.layout_of_lse;
  all.layout_of_dQ = p.layout_of_O;
  return all;
}

BackwardProblem with_layouts_of_gradients(BackwardProblem p, Layout dO, Layout dQ, Layout dK, Layout dV,
                                          Layout delta) {
  p.dO = lay_out(p.dO, dO);
  p.layout_of_dQ = dQ, p.layout_of_dK = dK, p.layout_of_dV = dV, p.layout_of_delta = delta;
  return p;
}

BackwardProblem with_infinite_products(Problem p) {
  constexpr float kLarge = 1e20f;
  Random random(grading::case_seed() + 18);
  const Int b = random.integer(0, p.B() - 1), h = random.integer(0, p.H() - 1),
            i = random.integer(0, p.Nq() - 2);
  for (Int j = 0; j < p.Nk(); ++j)
    if (!p.sees(i, j) || (p.dropout && p.dropout->factors(b, h, i, j) == 0.0f))
      p.V(b, h / (p.H() / p.H_kv()), j, 0) = kLarge;
  if (p.format) round_to(p.V, *p.format);
  Tensor<float> dO = with_gradient(p).dO;
  dO(b, h, i, 0) = kLarge;
  return with_gradient(p, std::move(dO));
}

BackwardProblem with_not_numbers_of_results(BackwardProblem p) {
  Random random(grading::case_seed() + 19);
  const auto row = [&] { return random.integer(0, p.Nq() - 1); };
  const auto dim = [&] { return random.integer(0, p.D() - 1); };
  const Int i = row(), d = dim();
  p.O(0, 0, i, d) = kNan, p.exact.O(0, 0, i, d) = static_cast<double>(kNan);
  p.dO(0, 1, row(), dim()) = kNan;
  const Int of_lse = row();
  p.lse(0, 2, of_lse) = kNan, p.exact.lse(0, 2, of_lse) = static_cast<double>(kNan);
  for (Int j = 0; j < p.Nk(); ++j) p.exact.P(0, 2, of_lse, j) = static_cast<double>(kNan);
  return p;
}

BackwardProblem with_gaps(const BackwardProblem& p, float gap) {
  const Layout gaps = layout_with_gaps(p);
  BackwardProblem apart = with_layouts_of_gradients(p, gaps, gaps, gaps, gaps, gaps);
  static_cast<Problem&>(apart) = with_gaps(static_cast<const Problem&>(p), gap);
  apart.dO = lay_out(p.dO, gaps, gap);
  apart.O = lay_out(p.O, gaps, gap);
  apart.lse = lay_out(p.lse, gaps, gap);
  return apart;
}

Problem with_scores_of_minus_inf(Problem p, Int first) {
  const float unit = 1.0f / p.scale;
  for (Int b = 0; b < p.B(); ++b) {
    // A query's number there, times the scale or not, times -3e38 is beyond float32.
    for (Int h = 0; h < p.H(); ++h)
      for (Int i = 0; i < p.Nq(); ++i) p.Q(b, h, i, 0) = 4.0f * unit + 4.0f;
    for (Int j = 0; j < first; ++j) p.K(b, 0, j, 0) = -3e38f;
    for (Int j = 0; j < p.Nk(); j += 3) p.K(b, p.H_kv() - 1, j, 0) = -3e38f;
  }
  return p;
}

BackwardProblem identity_in_K(Int n, const reference::Mask& mask, bool sink) {
  return identity_problem(n, mask, sink, &Problem::K);
}

BackwardProblem identity_in_Q(Int n, const reference::Mask& mask, bool sink) {
  return identity_problem(n, mask, sink, &Problem::Q);
}

}  // namespace course::attention_tests
