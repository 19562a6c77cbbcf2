#include "reference/attention_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace course::reference {
namespace {

using Index = std::int64_t;

/// The most by which rounding changes a number of about x, whatever power of 2 it has been scaled by; and at
/// least `least`, below which a format has no steps. 0 for what is not finite.
double error_of(double x, double least, Format16 format) {
  return std::isfinite(x) && x != 0 ? std::max(std::abs(x) * half_step(1.0, format), least) : 0;
}

/// Adds error · |x|, where the result can be finite.
void add(double& sum, double error, double x) {
  if (std::isfinite(x)) sum += error * std::abs(x);
}

double factor_of(const Tensor<float>* factors, Index linear) {
  return factors == nullptr ? 1 : static_cast<double>(factors->at_linear(linear));
}

}  // namespace

Tensor<double> rounding_of_output(const Attention& forward, const Tensor<float>& V, Format16 format,
                                  const Tensor<float>* factors) {
  const Shape& shape = forward.O.shape();
  const Index H = shape[1], Nq = shape[2], D = shape[3], Nk = V.shape()[2];
  const Tensor<double> values = V.contiguous().to<double>();
  Tensor<double> cost(shape);
  for (Index row = 0; row < forward.lse.numel(); ++row) {
    const Index h = row / Nq % H, h_kv = h / (H / V.shape()[1]), b = row / Nq / H;
    const double *P = forward.P.data() + row * Nk, *v = values.data() + (b * V.shape()[1] + h_kv) * Nk * D;
    // Weights are rounded beside the largest, which is 1 by then: that of a key, or that of a learned sink.
    const double of_sink = 1 - std::accumulate(P, P + Nk, 0.0);
    const double least =
        half_step(0.0, format) * std::max(of_sink, Nk > 0 ? *std::max_element(P, P + Nk) : 0);
    for (Index j = 0; j < Nk; ++j) {
      const double error = error_of(P[j], least, format) * factor_of(factors, row * Nk + j);
      for (Index d = 0; error > 0 && d < D; ++d) add(cost.data()[row * D + d], error, v[j * D + d]);
    }
  }
  return cost;
}

RoundingOfGradients rounding_of_gradients(const AttentionGradients& gradients, const Attention& forward,
                                          const Tensor<float>& Q, const Tensor<float>& K,
                                          const Tensor<float>& dO, double scale, Format16 format,
                                          const Tensor<float>* factors) {
  const Index H = Q.shape()[1], Nq = Q.shape()[2], D = Q.shape()[3], H_kv = K.shape()[1], Nk = K.shape()[2];
  const Tensor<double> queries = Q.contiguous().to<double>(), keys = K.contiguous().to<double>(),
                       output = dO.contiguous().to<double>();
  const double least = half_step(0.0, format);
  RoundingOfGradients cost{Tensor<double>(Q.shape()), Tensor<double>(K.shape()), Tensor<double>(K.shape())};
  for (Index row = 0; row < forward.lse.numel(); ++row) {
    const Index first_key = (row / Nq / H * H_kv + row / Nq % H / (H / H_kv)) * Nk;
    const double *q = queries.data() + row * D, *dO_row = output.data() + row * D;
    for (Index j = 0; j < Nk; ++j) {
      // A kernel may scale dS before it rounds, or after.
      const double of_dS =
          error_of(scale * gradients.dS.data()[row * Nk + j], std::max(scale, 1.0) * least, format);
      const double of_P =
          error_of(forward.P.data()[row * Nk + j], least, format) * factor_of(factors, row * Nk + j);
      if (of_dS == 0 && of_P == 0) continue;
      const Index key = (first_key + j) * D;
      for (Index d = 0; d < D; ++d) {
        add(cost.dQ.data()[row * D + d], of_dS, keys.data()[key + d]);
        add(cost.dK.data()[key + d], of_dS, q[d]);
        add(cost.dV.data()[key + d], of_P, dO_row[d]);
      }
    }
  }
  return cost;
}

}  // namespace course::reference
