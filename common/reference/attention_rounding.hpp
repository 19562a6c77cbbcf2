#pragma once

#include "reference/attention.hpp"
#include "reference/attention_gradients.hpp"
#include "tensor/float16.hpp"
#include "tensor/tensor.hpp"

// How far results of attention may move when P and dS are rounded to 16 bits before they enter a product.
// Where a weight is rounded depends on the order of keys: a kernel that goes tile by tile rounds exp(S - m)
// with the maximum m that it knows by then. So these are bounds, and not one rounding of the reference's:
// each operand is off by half a step of its own size at most, all of them perhaps the same way. Sums and
// results are exact here.

namespace course::reference {

/// @brief What rounding the weights may change in each element of O: Σ_j e_ij · |V_jd|, where e_ij is half a
/// step of P_ij, and for weights that are subnormal beside the largest of their row half of the smallest
/// number. Shapes: `forward` is what attention() gave, V as there; the result is (B, H, Nq, D). `factors` as
/// there. Domain: 0 where no weight is finite or V is infinite: there the results are what they are without
/// rounding. Cost:   2 · B · H · Nq · Nk · D operations.
Tensor<double> rounding_of_output(const Attention& forward, const Tensor<float>& V, Format16 format,
                                  const Tensor<float>* factors = nullptr);

/// What rounding P and dS may change in each element of the gradients. Shapes as theirs.
struct RoundingOfGradients {
  Tensor<double> dQ, dK, dV;
};

/// @brief Σ_j e(scale · dS_ij) · |K_jd| for dQ, Σ_i e(scale · dS_ij) · |Q_id| for dK and Σ_i e(P_ij) ·
/// |dO_id| for dV, where e(x) is half a step of x at most. The other arguments are those of
/// attention_gradients(). Cost:   6 · B · H · Nq · Nk · D operations.
RoundingOfGradients rounding_of_gradients(const AttentionGradients& gradients, const Attention& forward,
                                          const Tensor<float>& Q, const Tensor<float>& K,
                                          const Tensor<float>& dO, double scale, Format16 format,
                                          const Tensor<float>* factors = nullptr);

}  // namespace course::reference
