#pragma once
/// @file
/// What tensor cores may lose beside float32, because they cut off where float32 rounds.

#include "attention/problem.hpp"
#include "reference/attention.hpp"
#include "tensor/tensor.hpp"

namespace course::attention_tests {

/// How far each element of O and lse may be off by it. Shapes: as theirs.
struct CuttingOff {
  Tensor<double> O, lse;
};

/// @brief A product of 16 steps of k loses at most the last bit, 2⁻²³, of Σ|a · b| so far. So S_ij is off by
/// at most ⌈D/16⌉ · 2⁻²³ · scale · Σ_d |Q_id · K_jd|, lse by what P makes of that, and O by ⌈Nk/16⌉ · 2⁻²³ ·
/// Σ_j P_ij · |V_jd| besides. Where numbers are not finite, 0: there the results are what they are. Cost: 4 ·
/// B · H · Nq · Nk · D operations.
CuttingOff cutting_off(const Problem& p, const reference::Attention& forward);

}  // namespace course::attention_tests
