#include "attention/cutting_off.hpp"

#include <cmath>

namespace course::attention_tests {
namespace {

/// What a sum of so many terms may lose, as a share of the sum of their absolute values.
double share(Int terms) { return std::ldexp(static_cast<double>((terms + 15) / 16), -23); }

double size_of(double x) { return std::isfinite(x) ? std::abs(x) : 0; }

}  // namespace

CuttingOff cutting_off(const Problem& p, const reference::Attention& forward) {
  const Int H = p.H(), Nq = p.Nq(), Nk = p.Nk(), D = p.D();
  const Tensor<double> Q = p.Q.contiguous().to<double>(), K = p.K.contiguous().to<double>(),
                       V = p.V.contiguous().to<double>();
  const double of_S = share(D) * std::abs(static_cast<double>(p.scale)), of_O = share(Nk);
  CuttingOff cost{Tensor<double>(p.shape_of_O()), Tensor<double>(p.shape_of_lse())};
  for (Int n = 0; n < cost.lse.numel(); ++n) {
    const Int head = n / Nq / H * p.H_kv() + n / Nq % H / (H / p.H_kv());
    const double *P = forward.P.data() + n * Nk, *O = forward.O.data() + n * D;
    const double *q = Q.data() + n * D, *keys = K.data() + head * Nk * D, *values = V.data() + head * Nk * D;
    for (Int j = 0; j < Nk; ++j) {
      if (!(P[j] > 0)) continue;
      double off = 0;
      for (Int d = 0; d < D; ++d) off += size_of(q[d] * keys[j * D + d]);
      off *= P[j] * of_S;
      cost.lse.data()[n] += off;
      for (Int d = 0; d < D; ++d) {
        const double v = size_of(values[j * D + d]);
        cost.O.data()[n * D + d] += off * (v + size_of(O[d])) + P[j] * of_O * v;
      }
    }
  }
  return cost;
}

}  // namespace course::attention_tests
