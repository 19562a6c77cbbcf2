#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "tensor/float16.hpp"
#include "tensor/tensor.hpp"

namespace course::reference {

/// @brief Which keys a query sees. Positions count from the end: the last query stands beside the last key,
/// so that query i stands at key i + Nk - Nq (the bottom-right rule of FlashAttention 2.1).
struct Mask {
  bool causal = false;  ///< no key past the query's position
  /// The last so many keys up to the query's position, that one included; at least 1.
  std::int64_t window = std::numeric_limits<std::int64_t>::max();
  std::int64_t sinks = 0;  ///< so many first keys are seen whatever the window; not whatever `causal`
};

/// @brief Whether query i of Nq sees key j of Nk.
bool sees(const Mask& mask, std::int64_t i, std::int64_t j, std::int64_t Nq, std::int64_t Nk);

/// Which numbers are rounded to 16 bits, as by kernels for tensor cores, whose products take operands of 16
/// bits and sum in more. What is not named is exact.
struct Rounding {
  /// Of the weights on their way into O = P·V, relative to the largest score of the row (or its sink):
  /// exp(S_ij - max); of P and dS on their way into dV, dQ and dK.
  std::optional<Format16> operands{};
  bool sums_rounded = false;  ///< l, and so lse, is the sum of the rounded weights, not of the exact ones
  std::optional<Format16> results{};  ///< of O, dQ, dK and dV
};

/// What attention() finds, step by step.
struct Attention {
  Tensor<double> S;    ///< (B, H, Nq, Nk): scaled scores, -inf where the query does not see the key
  Tensor<double> P;    ///< (B, H, Nq, Nk): the softmax of each row of S
  Tensor<double> O;    ///< (B, H, Nq, D): the rows of V, weighed by P (with dropout, P times the factors)
  Tensor<double> lse;  ///< (B, H, Nq): log Σ_j exp(S_ij), natural logarithm; with exp(sink_h) in the sum
};

/// @brief S = Q·Kᵀ·scale, P = softmax(S) along the keys that the mask shows, O = P·V, for each batch and
/// head, in float64. Shapes: Q is (B, H, Nq, D), K and V are (B, H_kv, Nk, D), where H_kv divides H: query
/// head h reads head
///         h / (H / H_kv). Any strides; results are contiguous. `sink`, if given, is (H): a logit that joins
///         each row's denominator and has no value, so that a row of P sums to less than 1. It is not scaled.
///         `factors`, if given, is (B, H, Nq, Nk) and says what dropout makes of each weight: 0, or 1/(1 -
///         p). They change O alone. `rounding` changes O, and with sums_rounded lse; S and P stay exact.
/// Domain: a query that no key reaches (it sees none, or only scores of -inf) gets P = 0, O = 0 and lse =
/// -inf
///         or the sink. NaN or +inf among the scores of a query, or as its sink, makes its P, O and lse NaN:
///         P only at keys that it sees. A weight of 0 times an infinity in V is NaN. Keys that a query does
///         not see change nothing, whatever they hold.
/// Error:  sums of D, Nk and Nk terms in float64, one after the other. Nothing is rounded to float32, and
///         scores beyond its range are finite here. With `rounding`, a kernel differs in the weights whose
///         rounding depends on the order of keys: attention_rounding.hpp says by how much.
/// Cost:   4 · B · H · Nq · Nk · D operations; S and P in full.
/// @throws std::invalid_argument unless the shapes fit together, the window is at least 1 and the sinks are
/// not negative.
Attention attention(const Tensor<float>& Q, const Tensor<float>& K, const Tensor<float>& V, double scale,
                    const Mask& mask = {}, const Tensor<float>* sink = nullptr,
                    const Tensor<float>* factors = nullptr, const Rounding& rounding = {});

}  // namespace course::reference
