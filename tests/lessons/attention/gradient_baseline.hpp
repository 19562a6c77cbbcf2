#pragma once
/// @file
/// What a test compares gradients of attention with: float64, and what float32 may lose against it.

#include "attention/gradient_problem.hpp"
#include "reference/attention_gradients.hpp"
#include "tensor/tensor.hpp"

namespace course::attention_tests {

/// One of the results of a backward kernel, in the order in which they are checked: delta enters dS, and P is
/// all that dV needs, so that once dV is right, a wrong dK is a matter of dP, of dS or of its own product.
enum class Gradient { delta, dV, dK, dQ, dsink };

/// "delta", "dV", "dK", "dQ" or "dsink".
const char* name_of(Gradient which);

/// Shapes: delta is (B, H, Nq), dV and dK are (B, H_kv, Nk, D), dQ is (B, H, Nq, D), dsink is (H).
template <class T>
struct GradientResults {
  Tensor<T> delta, dV, dK, dQ, dsink;

  Tensor<T>& of(Gradient which) {
    switch (which) {
      case Gradient::delta:
        return delta;
      case Gradient::dV:
        return dV;
      case Gradient::dK:
        return dK;
      case Gradient::dQ:
        return dQ;
      case Gradient::dsink:
        break;
    }
    return dsink;
  }
  const Tensor<T>& of(Gradient which) const { return const_cast<GradientResults*>(this)->of(which); }
};

using Backward = GradientResults<float>;
using Backward64 = GradientResults<double>;

Shape shape_of(const BackwardProblem& p, Gradient which);

/// @brief The reference's gradients, with what stands between: dP and dS.
reference::AttentionGradients gradients_of(const BackwardProblem& p);

/// @brief The same by name, without what stands between.
Backward64 expected_of(const BackwardProblem& p);
Backward64 expected_of(reference::AttentionGradients all);

/// @brief Element by element the worst of five float32 programs, all of which take p.O and p.lse: they add up
/// in different orders, tile by tile or all at once, and scale sooner or later. In one of them S, P, dP and
/// delta are off by a few times the rounding error that their sums usually have: a test's smallest results
/// have one element, in which the other four may be exact by luck (or, with one key, because dS is 0). dsink,
/// of which there is little, is off by as much at least, and so are dQ and dK (rounding.hpp).
/// Cost: 50 · B · H · Nq · Nk · D operations in float32, less what the mask hides.
Backward in_float32(const BackwardProblem& p, const Backward64& expected);

}  // namespace course::attention_tests
