#include "reference/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tensor/format.hpp"

namespace course::reference {
namespace {

using Index = std::int64_t;
constexpr double kInf = std::numeric_limits<double>::infinity();

void require_shapes(const Tensor<float>& Q, const Tensor<float>& K, const Tensor<float>& V) {
  const Shape &q = Q.shape(), &k = K.shape(), &v = V.shape();
  if (q.size() == 4 && k.size() == 4 && v == k && q[0] == k[0] && q[1] == k[1] && q[3] == k[3]) return;
  throw std::invalid_argument(
      "attention needs Q of shape (B, H, Nq, D), K and V of shape (B, H, Nk, D), but Q has shape " +
      format_shape(q) + ", K has shape " + format_shape(k) + " and V has shape " + format_shape(v) + ".");
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

/// P = softmax of one row of scores; returns its log Σ exp. Shapes: S, P are (Nk).
double softmax(const double* S, double* P, Index Nk) {
  double max = -kInf;
  for (Index j = 0; j < Nk; ++j) max = std::max(max, S[j]);  // passes NaN by; the sum does not
  double sum = 0;
  for (Index j = 0; j < Nk; ++j) {
    P[j] = S[j] == -kInf && max == -kInf ? 0 : std::exp(S[j] - max);  // -inf - -inf would be NaN
    sum += P[j];
  }
  if (sum == 0) return -kInf;
  for (Index j = 0; j < Nk; ++j) P[j] /= sum;
  return max + std::log(sum);
}

}  // namespace

Attention attention(const Tensor<float>& Q, const Tensor<float>& K, const Tensor<float>& V, double scale) {
  require_shapes(Q, K, V);
  const Index B = Q.shape()[0], H = Q.shape()[1], Nq = Q.shape()[2], D = Q.shape()[3], Nk = K.shape()[2];
  Attention result{Tensor<double>({B, H, Nq, Nk}), Tensor<double>({B, H, Nq, Nk}),
                   Tensor<double>({B, H, Nq, D}), Tensor<double>({B, H, Nq})};
  double *S = result.S.data(), *P = result.P.data(), *O = result.O.data(), *lse = result.lse.data();
  for (Index b = 0; b < B; ++b) {
    for (Index h = 0; h < H; ++h) {
      for (Index i = 0; i < Nq; ++i, S += Nk, P += Nk, O += D, ++lse) {
        const Row q(Q, b, h, i);
        for (Index j = 0; j < Nk; ++j) S[j] = scale * dot(q, Row(K, b, h, j), D);
        *lse = softmax(S, P, Nk);
        for (Index j = 0; j < Nk; ++j) {
          const Row v(V, b, h, j);
          for (Index d = 0; d < D; ++d) O[d] += P[j] * v[d];
        }
      }
    }
  }
  return result;
}

}  // namespace course::reference
