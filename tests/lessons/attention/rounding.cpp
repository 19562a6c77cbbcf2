#include "attention/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace course::attention_tests {
namespace {

/// One query. Its number among all, and what O[n] is made of: Σ_j w_j · v_j, where w is P, or what dropout
/// makes of it.
struct Row {
  Int n, Nk, D;
  const double* P;
  const float* factors;  // of dropout, or nullptr
  const double* o;
  const float* v;

  double factor(Int j) const { return factors ? static_cast<double>(factors[j]) : 1.0; }
};

/// The root mean square of the errors of a row of scores, weighted as the scores are: those of keys without
/// weight may be off by anything.
double error_of_scores(const float* S, const double* expected, const Row& row) {
  double sum = 0, total = 0;
  for (Int j = 0; j < row.Nk; ++j) {
    if (row.P[j] == 0) continue;
    const double off = static_cast<double>(S[j]) - expected[j];
    sum += row.P[j] * off * off, total += row.P[j];
  }
  return total > 0 ? std::sqrt(sum / total) : 0;
}

std::vector<double> weights_of(const Row& row, bool after_dropout) {
  std::vector<double> weights(row.P, row.P + row.Nk);
  for (Int j = 0; after_dropout && j < row.Nk; ++j) weights[static_cast<std::size_t>(j)] *= row.factor(j);
  return weights;
}

/// How many terms are large enough to change their sum by more than rounding does.
double terms_of(const std::vector<double>& terms) {
  const double sum = std::accumulate(terms.begin(), terms.end(), 0.0);
  return static_cast<double>(
      std::count_if(terms.begin(), terms.end(), [sum](double term) { return term > kRoundoff * sum; }));
}

void move(Tensor<float>& x, const Tensor<double>& right, Int i, double usual) {
  x.at_linear(i) = off_as_usual(x.at_linear(i), right.at_linear(i), usual);
}

/// m, l and lse. `of_sum` is what rounding makes of a sum of the weights, as a share of it.
void move_sums(Forward& to, const Forward64& right, const Row& row, double of_scores, double of_sum) {
  const double l = right.l.at_linear(row.n), log_l = right.lse.at_linear(row.n) - right.m.at_linear(row.n);
  const double squares = std::inner_product(row.P, row.P + row.Nk, row.P, 0.0);
  move(to.m, right.m, row.n, of_scores);
  move(to.l, right.l, row.n, std::hypot(of_sum, of_scores) * l);
  move(to.lse, right.lse, row.n, std::hypot(of_sum, of_scores * std::sqrt(squares), kRoundoff * log_l));
}

void move_output(Tensor<float>& O, const Tensor<double>& right, const Row& row, double of_scores,
                 double of_sum) {
  const auto D = static_cast<std::size_t>(row.D);
  std::vector<double> magnitudes(D), slopes(D);  // Σ_j |w_j · v_jd| and Σ_j (∂O_id / ∂S_ij)²
  for (Int j = 0; j < row.Nk; ++j) {
    if (row.P[j] == 0) continue;
    for (std::size_t d = 0; d < D; ++d) {
      const double value = row.factor(j) * static_cast<double>(row.v[j * row.D + static_cast<Int>(d)]);
      const double slope = row.P[j] * (value - row.o[d]);
      magnitudes[d] += row.P[j] * std::abs(value), slopes[d] += slope * slope;
    }
  }
  const double terms = terms_of(weights_of(row, true));
  for (std::size_t d = 0; d < D; ++d)
    move(O, right, row.n * row.D + static_cast<Int>(d),
         std::hypot(rounding(terms, magnitudes[d]), of_sum * std::abs(row.o[d]),
                    of_scores * std::sqrt(slopes[d])));
}

}  // namespace

float off_as_usual(float value, double expected, double usual) {
  const auto error = [expected](float x) { return std::abs(static_cast<double>(x) - expected); };
  const double off = error(value);
  if (!std::isfinite(off) || !std::isfinite(usual) || off == 0) return value;
  const double least = std::max(error(static_cast<float>(expected + 2 * usual)),
                                error(static_cast<float>(expected - 2 * usual))) /
                       2;
  if (off >= least) return value;
  auto above = static_cast<float>(expected + least), below = static_cast<float>(expected - least);
  if (error(above) < least) above = std::nextafter(above, kInf);
  if (error(below) < least) below = std::nextafter(below, -kInf);
  return error(below) < error(above) ? below : above;
}

void add_usual_rounding(Baseline& baseline, const Problem& p, const reference::Attention& expected) {
  const Forward64 right = expected_of(expected);
  const Tensor<float> V = p.V.contiguous();
  const Int H = p.H(), Nq = p.Nq(), Nk = p.Nk(), D = p.D();
  for (Int n = 0; n < right.lse.numel(); ++n) {
    const Int h = n / Nq % H, head = n / Nq / H * p.H_kv() + h / (H / p.H_kv());
    const Row row{n,
                  Nk,
                  D,
                  expected.P.data() + n * Nk,
                  p.dropout ? p.dropout->factors.data() + n * Nk : nullptr,
                  right.O.data() + n * D,
                  V.data() + head * Nk * D};
    const double of_scores = error_of_scores(baseline.S.data() + n * Nk, expected.S.data() + n * Nk, row),
                 of_sum = rounding(terms_of(weights_of(row, false)), 1);
    move_sums(baseline.results, right, row, of_scores, of_sum);
    move_output(baseline.results.O, right.O, row, of_scores, of_sum);
  }
}

}  // namespace course::attention_tests
