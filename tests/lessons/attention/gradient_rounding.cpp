#include <cmath>
#include <cstddef>
#include <vector>

#include "attention/rounding.hpp"

namespace course::attention_tests {
namespace {

double dot(const float* a, const float* b, Int n) {
  double sum = 0;
  for (Int d = 0; d < n; ++d) sum += static_cast<double>(a[d]) * static_cast<double>(b[d]);
  return sum;
}

/// A tensor (B, H, N, D) as rows, and how long each of them is.
struct Rows {
  Tensor<float> x;
  Int D;
  std::vector<double> lengths;

  explicit Rows(const Tensor<float>& of) : x(of.contiguous()), D(of.shape()[3]) {
    for (Int row = 0; D > 0 && row < x.numel() / D; ++row)
      lengths.push_back(std::sqrt(dot((*this)[row], (*this)[row], D)));
  }
  const float* operator[](Int row) const { return x.data() + row * D; }
  double length(Int row) const { return lengths[static_cast<std::size_t>(row)]; }
};

/// dS_ij, and what rounding usually makes of it.
struct Term {
  double value, error;
};

struct Inputs {
  const BackwardProblem& p;
  const Tensor<double>& delta;
  Rows Q{p.Q}, K{p.K}, V{p.V}, dO{p.dO}, O{p.O};

  /// `row` is a row of Q, and `key` that of K and V to which P[row, j] belongs.
  Term term(Int row, Int j, Int key) const {
    const auto D = static_cast<double>(p.D());
    const double P = p.exact.P.at_linear(row * p.Nk() + j),
                 Z = p.dropout ? static_cast<double>(p.dropout->factors.at_linear(row * p.Nk() + j)) : 1.0;
    const double of_S = rounding(D, Q.length(row) * K.length(key) * static_cast<double>(p.scale)),
                 of_lse = kRoundoff * std::abs(p.exact.lse.at_linear(row)),
                 of_dP = Z * rounding(D, dO.length(row) * V.length(key)),
                 of_delta = rounding(D, dO.length(row) * O.length(row));
    const double above_delta = Z * dot(dO[row], V[key], p.D()) - delta.at_linear(row);
    return {P * above_delta,
            P * std::hypot(std::hypot(of_dP, of_delta), above_delta * std::hypot(of_S, of_lse))};
  }
};

/// What the elements of dQ or dK are sums of, without the scale.
class Sums {
 public:
  Sums(Int rows, Int D)
      : D_(D),
        terms_(static_cast<std::size_t>(rows)),
        magnitudes_(static_cast<std::size_t>(rows * D)),
        squares_(magnitudes_.size()) {}

  /// Adds dS · x to a row.
  void add(Int row, const Term& dS, const float* x) {
    terms_[static_cast<std::size_t>(row)] += 1;
    double *magnitudes = magnitudes_.data() + row * D_, *squares = squares_.data() + row * D_;
    for (Int d = 0; d < D_; ++d) {
      const double off = dS.error * static_cast<double>(x[d]);
      magnitudes[d] += std::abs(dS.value * static_cast<double>(x[d]));
      squares[d] += off * off;
    }
  }

  void move(Tensor<float>& x, const Tensor<double>& expected, double scale) const {
    for (Int i = 0; i < x.numel(); ++i) {
      const auto n = static_cast<std::size_t>(i);
      const double of_sum = rounding(terms_[static_cast<std::size_t>(i / D_)], magnitudes_[n]);
      x.at_linear(i) = off_as_usual(x.at_linear(i), expected.at_linear(i),
                                    scale * std::hypot(of_sum, std::sqrt(squares_[n])));
    }
  }

 private:
  Int D_;
  std::vector<double> terms_, magnitudes_, squares_;
};

}  // namespace

void add_usual_rounding(Backward& baseline, const BackwardProblem& p, const Backward64& expected) {
  const Inputs in{p, expected.delta};
  const Int H = p.H(), Nq = p.Nq(), Nk = p.Nk();
  Sums dQ(p.B() * H * Nq, p.D()), dK(p.B() * p.H_kv() * Nk, p.D());
  for (Int row = 0; row < p.B() * H * Nq; ++row) {
    // A score that float32 has not, a kernel has not, either; nor weights of such scores.
    if (!std::isfinite(static_cast<float>(p.exact.lse.at_linear(row)))) continue;
    const Int first_key = (row / Nq / H * p.H_kv() + row / Nq % H / (H / p.H_kv())) * Nk;
    for (Int j = 0; j < Nk; ++j) {
      if (p.exact.P.at_linear(row * Nk + j) == 0) continue;
      const Int key = first_key + j;
      const Term dS = in.term(row, j, key);
      dQ.add(row, dS, in.K[key]);
      dK.add(key, dS, in.Q[row]);
    }
  }
  dQ.move(baseline.dQ, expected.dQ, static_cast<double>(p.scale));
  dK.move(baseline.dK, expected.dK, static_cast<double>(p.scale));
}

}  // namespace course::attention_tests
