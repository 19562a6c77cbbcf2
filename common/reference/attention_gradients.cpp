#include "reference/attention_gradients.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "tensor/format.hpp"

namespace course::reference {
namespace {

using Index = std::int64_t;

void require_shape(const char* name, const Tensor<float>& x, const Shape& wanted) {
  if (x.shape() == wanted) return;
  throw std::invalid_argument(std::string("attention_gradients needs ") + name + " of the shape " +
                              format_shape(wanted) + ", but it has shape " + format_shape(x.shape()) + ".");
}

/// Row-major copies of the inputs in float64.
struct Inputs {
  Tensor<double> Q, K, V, dO;
  const Tensor<float>* factors;
  std::optional<Format16> operands;  // what P and dS are rounded to before they enter a product

  double operand(double x) const { return operands ? rounded(x, *operands) : x; }
};

/// Adds what row i of head h in batch b brings to all gradients but dsink.
void add_row(const Inputs& in, double scale, const Attention& forward, Index b, Index h, Index i, Index h_kv,
             AttentionGradients& to) {
  const Index H = in.Q.shape()[1], Nq = in.Q.shape()[2], Nk = in.K.shape()[2], D = in.Q.shape()[3];
  const Index row = (b * H + h) * Nq + i, keys = (b * in.K.shape()[1] + h_kv) * Nk;
  const double *q = in.Q.data() + row * D, *dO = in.dO.data() + row * D, *O = forward.O.data() + row * D;
  double &row_D = to.D.data()[row], *dQ = to.dQ.data() + row * D;
  for (Index d = 0; d < D; ++d) row_D += dO[d] * O[d];
  for (Index j = 0; j < Nk; ++j) {
    const double weight = forward.P.data()[row * Nk + j];
    if (weight == 0) continue;  // 0 times an infinity would be NaN
    const double factor = in.factors ? static_cast<double>((*in.factors)(b, h, i, j)) : 1;
    const double *k = in.K.data() + (keys + j) * D, *v = in.V.data() + (keys + j) * D;
    double *dK = to.dK.data() + (keys + j) * D, *dV = to.dV.data() + (keys + j) * D;
    double& dP = to.dP.data()[row * Nk + j];
    for (Index d = 0; d < D; ++d) dP += dO[d] * v[d];
    dP *= factor;
    const double dS = to.dS.data()[row * Nk + j] = weight * (dP - row_D);
    const double scaled = in.operand(dS) * scale, dropped = in.operand(weight) * factor;
    for (Index d = 0; d < D; ++d) {
      dQ[d] += scaled * k[d];
      dK[d] += scaled * q[d];
      dV[d] += dropped * dO[d];
    }
  }
}

}  // namespace

AttentionGradients attention_gradients(const Attention& forward, const Tensor<float>& Q,
                                       const Tensor<float>& K, const Tensor<float>& V,
                                       const Tensor<float>& dO, double scale, const Tensor<float>* sink,
                                       const Tensor<float>* factors, const Rounding& rounding) {
  require_shape("dO", dO, Q.shape());
  const Index B = Q.shape()[0], H = Q.shape()[1], Nq = Q.shape()[2];
  AttentionGradients gradients{
      Tensor<double>({B, H, Nq}), Tensor<double>(forward.P.shape()), Tensor<double>(forward.P.shape()),
      Tensor<double>(Q.shape()),  Tensor<double>(K.shape()),         Tensor<double>(V.shape()),
      Tensor<double>({H})};
  const Inputs inputs{Q.contiguous().to<double>(),
                      K.contiguous().to<double>(),
                      V.contiguous().to<double>(),
                      dO.contiguous().to<double>(),
                      factors,
                      rounding.operands};
  for (Index b = 0; b < B; ++b) {
    for (Index h = 0; h < H; ++h) {
      for (Index i = 0; i < Nq; ++i) {
        add_row(inputs, scale, forward, b, h, i, h / (H / K.shape()[1]), gradients);
        // A sink of -inf has no weight, and beside lse = -inf it would be NaN.
        if (sink == nullptr || std::isinf((*sink)(h))) continue;
        const double weight = std::exp(static_cast<double>((*sink)(h)) - forward.lse(b, h, i));
        gradients.dsink(h) -= weight * gradients.D(b, h, i);
      }
    }
  }
  for (Tensor<double>* gradient : {&gradients.dQ, &gradients.dK, &gradients.dV})
    for (double& x : gradient->storage()) x = rounding.results ? rounded(x, *rounding.results) : x;
  return gradients;
}

AttentionGradients attention_gradients(const Tensor<float>& Q, const Tensor<float>& K, const Tensor<float>& V,
                                       const Tensor<float>& dO, double scale, const Mask& mask,
                                       const Tensor<float>* sink, const Tensor<float>* factors,
                                       const Rounding& rounding) {
  return attention_gradients(attention(Q, K, V, scale, mask, sink, factors, rounding), Q, K, V, dO, scale,
                             sink, factors, rounding);
}

}  // namespace course::reference
