#include "reference/attention.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "tensor/format.hpp"

namespace course::reference {
namespace {

using Index = std::int64_t;
constexpr double kInf = std::numeric_limits<double>::infinity();

void require_shapes(const Tensor<float>& Q, const Tensor<float>& K, const Tensor<float>& V) {
  const Shape &q = Q.shape(), &k = K.shape(), &v = V.shape();
  if (q.size() == 4 && k.size() == 4 && v == k && q[0] == k[0] && q[3] == k[3] &&
      (k[1] == 0 ? q[1] == 0 : q[1] % k[1] == 0))
    return;
  throw std::invalid_argument(
      "attention needs Q of shape (B, H, Nq, D), K and V of shape (B, H_kv, Nk, D), where H_kv divides H, "
      "but Q has shape " +
      format_shape(q) + ", K has shape " + format_shape(k) + " and V has shape " + format_shape(v) + ".");
}

void require_mask(const Mask& mask) {
  if (mask.window < 1)
    throw std::invalid_argument("the window must be at least 1, but it is " + std::to_string(mask.window) +
                                ".");
  if (mask.sinks < 0)
    throw std::invalid_argument("the sinks must not be negative, but they are " + std::to_string(mask.sinks) +
                                ".");
}

void require_sink(const Tensor<float>* sink, Index H) {
  if (sink == nullptr || sink->shape() == Shape{H}) return;
  throw std::invalid_argument("attention needs a sink of shape " + format_shape({H}) +
                              ", one number for each head of Q, but it has shape " +
                              format_shape(sink->shape()) + ".");
}

void require_factors(const Tensor<float>* factors, const Shape& wanted) {
  if (factors == nullptr || factors->shape() == wanted) return;
  throw std::invalid_argument("attention needs factors of shape " + format_shape(wanted) +
                              ", one for each weight, but they have shape " + format_shape(factors->shape()) +
                              ".");
}

/// One row of a tensor of four axes.
struct Row {
  const float* data;
  Index step;  // elements between neighbours

  Row(const Tensor<float>& x, Index b, Index h, Index row)
      : data(x.data() + b * x.strides()[0] + h * x.strides()[1] + row * x.strides()[2]),
        step(x.strides()[3]) {}
  double operator[](Index d) const { return static_cast<double>(data[d * step]); }
};

double dot(const Row& q, const Row& k, Index D) {
  double sum = 0;
  for (Index d = 0; d < D; ++d) sum += q[d] * k[d];
  return sum;
}

/// P = softmax of one row of scores and the sink, which may be -inf; returns the log of the denominator.
/// Shapes: S, P are (Nk). `seen(j)` says which keys there are at all: the others get 0.
template <class Seen>
double softmax(const double* S, double* P, Index Nk, double sink, Seen seen) {
  double max = std::isnan(sink) ? -kInf : sink;
  for (Index j = 0; j < Nk; ++j) max = std::max(max, S[j]);  // passes NaN by; the sum does not
  const auto exp_of = [max](double x) { return x == -kInf && max == -kInf ? 0 : std::exp(x - max); };
  double sum = exp_of(sink);  // -inf - -inf would be NaN
  for (Index j = 0; j < Nk; ++j) sum += P[j] = seen(j) ? exp_of(S[j]) : 0;
  if (sum == 0) return -kInf;
  for (Index j = 0; j < Nk; ++j) P[j] = seen(j) ? P[j] / sum : 0;
  return max + std::log(sum);
}

/// Makes weights (Nk), which are P at first, what P·V takes: each is rounded before it is divided by the sum.
/// Shapes: S is (Nk). lse is that of the exact weights; with rounding.sums_rounded, it is changed, too.
void round_weights(const double* S, std::vector<double>& weights, double sink, const Rounding& rounding,
                   double& lse) {
  if (std::isnan(lse) || lse == -kInf) return;  // P is NaN, or 0
  const double max = std::max(sink, *std::max_element(S, S + weights.size()));
  double sum = std::exp(sink - max);
  for (std::size_t j = 0; j < weights.size(); ++j) {
    if (weights[j] > 0) weights[j] = rounded(std::exp(S[j] - max), *rounding.operands);
    sum += weights[j];
  }
  if (rounding.sums_rounded) lse = max + std::log(sum);
  for (double& weight : weights) weight /= std::exp(lse - max);
}

}  // namespace

bool sees(const Mask& mask, Index i, Index j, Index Nq, Index Nk) {
  const Index position = i + Nk - Nq;
  if (mask.causal && j > position) return false;
  return position - j < mask.window || j < mask.sinks;
}

Attention attention(const Tensor<float>& Q, const Tensor<float>& K, const Tensor<float>& V, double scale,
                    const Mask& mask, const Tensor<float>* sink, const Tensor<float>* factors,
                    const Rounding& rounding) {
  require_shapes(Q, K, V);
  require_mask(mask);
  const Index B = Q.shape()[0], H = Q.shape()[1], Nq = Q.shape()[2], D = Q.shape()[3], Nk = K.shape()[2];
  require_sink(sink, H);
  require_factors(factors, {B, H, Nq, Nk});
  Attention result{Tensor<double>({B, H, Nq, Nk}), Tensor<double>({B, H, Nq, Nk}),
                   Tensor<double>({B, H, Nq, D}), Tensor<double>({B, H, Nq})};
  double *S = result.S.data(), *P = result.P.data(), *O = result.O.data(), *lse = result.lse.data();
  for (Index b = 0; b < B; ++b) {
    for (Index h = 0; h < H; ++h) {
      const Index h_kv = h / (H / K.shape()[1]);
      const double own_sink = sink == nullptr ? -kInf : static_cast<double>((*sink)(h));
      for (Index i = 0; i < Nq; ++i, S += Nk, P += Nk, O += D, ++lse) {
        const Row q(Q, b, h, i);
        const auto seen = [&](Index j) { return sees(mask, i, j, Nq, Nk); };
        for (Index j = 0; j < Nk; ++j) S[j] = seen(j) ? scale * dot(q, Row(K, b, h_kv, j), D) : -kInf;
        *lse = softmax(S, P, Nk, own_sink, seen);
        std::vector<double> weights(P, P + Nk);
        if (rounding.operands && Nk > 0) round_weights(S, weights, own_sink, rounding, *lse);
        for (Index j = 0; j < Nk; ++j) {
          if (!seen(j)) continue;
          const Row v(V, b, h_kv, j);
          double weight = weights[static_cast<std::size_t>(j)];
          if (factors != nullptr) weight *= static_cast<double>((*factors)(b, h, i, j));
          for (Index d = 0; d < D; ++d) O[d] += weight * v[d];
        }
        for (Index d = 0; rounding.results && d < D; ++d) O[d] = rounded(O[d], *rounding.results);
      }
    }
  }
  return result;
}

}  // namespace course::reference
