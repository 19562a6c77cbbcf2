#include "reference/attention_gradients.hpp"

#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "tensor/format.hpp"

namespace course::reference {
namespace {

using Index = std::int64_t;

/// Adds what row i of head h in batch b brings to all gradients.
struct Row {
  const Tensor<float>&Q, &K, &V, &dO;
  double scale;
  const Attention& forward;
  AttentionGradients& gradients;

  void add(Index b, Index h, Index i, Index h_kv) {
    const Index D = Q.shape()[3], Nk = K.shape()[2];
    double& row_D = gradients.D(b, h, i);
    for (Index d = 0; d < D; ++d) row_D += static_cast<double>(dO(b, h, i, d)) * forward.O(b, h, i, d);
    for (Index j = 0; j < Nk; ++j) {
      const double weight = forward.P(b, h, i, j);
      if (weight == 0) continue;  // 0 times an infinity would be NaN
      double& dP = gradients.dP(b, h, i, j);
      for (Index d = 0; d < D; ++d)
        dP += static_cast<double>(dO(b, h, i, d)) * static_cast<double>(V(b, h_kv, j, d));
      const double dS = gradients.dS(b, h, i, j) = weight * (dP - row_D);
      for (Index d = 0; d < D; ++d) {
        gradients.dQ(b, h, i, d) += dS * scale * static_cast<double>(K(b, h_kv, j, d));
        gradients.dK(b, h_kv, j, d) += dS * scale * static_cast<double>(Q(b, h, i, d));
        gradients.dV(b, h_kv, j, d) += weight * static_cast<double>(dO(b, h, i, d));
      }
    }
  }
};

}  // namespace

AttentionGradients attention_gradients(const Tensor<float>& Q, const Tensor<float>& K, const Tensor<float>& V,
                                       const Tensor<float>& dO, double scale, const Mask& mask,
                                       const Tensor<float>* sink) {
  const Attention forward = attention(Q, K, V, scale, mask, sink);
  if (dO.shape() != Q.shape())
    throw std::invalid_argument("attention_gradients needs dO of the shape of Q, " + format_shape(Q.shape()) +
                                ", but it has shape " + format_shape(dO.shape()) + ".");
  const Index B = Q.shape()[0], H = Q.shape()[1], Nq = Q.shape()[2];
  AttentionGradients gradients{
      Tensor<double>({B, H, Nq}), Tensor<double>(forward.P.shape()), Tensor<double>(forward.P.shape()),
      Tensor<double>(Q.shape()),  Tensor<double>(K.shape()),         Tensor<double>(V.shape()),
      Tensor<double>({H})};
  Row row{Q, K, V, dO, scale, forward, gradients};
  for (Index b = 0; b < B; ++b) {
    for (Index h = 0; h < H; ++h) {
      for (Index i = 0; i < Nq; ++i) {
        row.add(b, h, i, h / (H / K.shape()[1]));
        // A sink of -inf has no weight, and beside lse = -inf it would be NaN.
        if (sink == nullptr || std::isinf((*sink)(h))) continue;
        const double weight = std::exp(static_cast<double>((*sink)(h)) - forward.lse(b, h, i));
        gradients.dsink(h) -= weight * gradients.D(b, h, i);
      }
    }
  }
  return gradients;
}

}  // namespace course::reference
