#pragma once

#include "reference/attention.hpp"
#include "tensor/tensor.hpp"

namespace course::reference {

/// What attention_gradients() finds, step by step.
struct AttentionGradients {
  Tensor<double> D;      ///< (B, H, Nq): rowsum(dO ∘ O)
  Tensor<double> dP;     ///< (B, H, Nq, Nk): dO·Vᵀ, times the factors of dropout; 0 where the weight is 0
  Tensor<double> dS;     ///< (B, H, Nq, Nk): P ∘ (dP - D), the gradient of the scaled scores
  Tensor<double> dQ;     ///< (B, H, Nq, D)
  Tensor<double> dK;     ///< (B, H_kv, Nk, D)
  Tensor<double> dV;     ///< (B, H_kv, Nk, D)
  Tensor<double> dsink;  ///< (H), zeros without a sink
};

/// @brief The gradients of attention() for a gradient dO of its O, in float64: dP = dO·Vᵀ, dS = P ∘ (dP - D),
/// dQ = dS·K·scale, dK = dSᵀ·Q·scale, dV = Pᵀ·dO, dsink_h = -Σ_{b,i} exp(sink_h - lse_i)·D_i.
/// Shapes: as attention(); dO is (B, H, Nq, D). dK and dV are sums over the heads of Q that read a head of K
/// and V. With `factors`, dP is multiplied by them, and dV = (P ∘ factors)ᵀ·dO.
/// Domain: where a weight is 0, the key has no part in any gradient of that query, whatever it holds;
/// a query that
///         no key reaches gets dQ = 0. NaN in a row of P makes the gradients that it enters NaN.
/// Rounding: P and dS enter dV, dQ and dK rounded; dS is made of the exact P. D is made of O as the forward
/// pass
///         gives it, rounded or not.
/// Cost:   10 · B · H · Nq · Nk · D operations beyond those of attention(); S, P, dP and dS in full.
/// @throws std::invalid_argument as attention(), and unless dO has the shape of Q.
AttentionGradients attention_gradients(const Tensor<float>& Q, const Tensor<float>& K, const Tensor<float>& V,
                                       const Tensor<float>& dO, double scale, const Mask& mask = {},
                                       const Tensor<float>* sink = nullptr,
                                       const Tensor<float>* factors = nullptr, const Rounding& rounding = {});

/// @brief The same for a forward pass that is there already: what attention() gave for these arguments. Where
/// O is handed to a kernel in 16 bits and nothing else of it is rounded, forward.O is that O.
AttentionGradients attention_gradients(const Attention& forward, const Tensor<float>& Q,
                                       const Tensor<float>& K, const Tensor<float>& V,
                                       const Tensor<float>& dO, double scale,
                                       const Tensor<float>* sink = nullptr,
                                       const Tensor<float>* factors = nullptr, const Rounding& rounding = {});

}  // namespace course::reference
