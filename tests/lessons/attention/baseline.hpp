#pragma once
/// @file
/// What a test compares an attention kernel's results with: float64, and what float32 may lose against it.

#include "attention/problem.hpp"
#include "tensor/tensor.hpp"

namespace course::attention_tests {

/// One of the results of an attention kernel; a kernel has some of them.
enum class Which { O, lse, m, l };

/// "O", "lse", "m" or "l".
const char* name_of(Which which);

/// Shapes: O is (B, H, Nq, D), the others are (B, H, Nq).
/// m is the largest score of a row, l is Σ_j exp(S_ij - m_i); the learned sink is in O and lse alone.
template <class T>
struct Results {
  Tensor<T> O, lse, m, l;

  Tensor<T>& of(Which which) {
    return which == Which::O ? O : which == Which::lse ? lse : which == Which::m ? m : l;
  }
  const Tensor<T>& of(Which which) const { return const_cast<Results*>(this)->of(which); }
};

using Forward = Results<float>;
using Forward64 = Results<double>;

/// @brief The reference's results. m and l of a row that no key reaches are -inf and 0.
Forward64 expected_of(const Problem& p);
Forward64 expected_of(const reference::Attention& reference);

/// What a float32 program may give. S and P are there for kernels that write them.
struct Baseline {
  Tensor<float> S, P;
  Forward results;
};

/// @brief Element by element the worst of five ways: four that go over the whole row, in different orders,
/// and one that goes tile by tile with the online recurrence. Each element of O, lse, m and l is off by what
/// rounding usually costs at least (rounding.hpp). `expected` are the reference's.
/// Cost: 20 · B · H · Nq · Nk · D operations in float32, less what the mask hides, and 6 in float64.
Baseline in_float32(const Problem& p, const reference::Attention& expected);

}  // namespace course::attention_tests
