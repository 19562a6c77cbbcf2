#pragma once
/// @file
/// What float32 usually loses. A test's smallest results have one element, or a few, in which all ways of a
/// baseline may be exact by luck. A bound that follows from them would ask for the same luck of a kernel.

#include <cmath>

#include "attention/baseline.hpp"
#include "attention/gradient_baseline.hpp"

namespace course::attention_tests {

/// Unit roundoff: rounding changes a number by at most this share of itself.
inline constexpr double kRoundoff = 0x1p-24;

/// @brief What rounding may do to a sum of `terms` terms whose absolute values add up to `magnitude`: a few
/// times the root mean square of a sum in order.
inline double rounding(double terms, double magnitude) {
  return kRoundoff * (1 + 0.5 * std::sqrt(terms)) * magnitude;
}

/// @brief `value`, if twice its error is as much as a program's result may be off that is off by twice what
/// is `usual` before it is rounded to float32. If not, the next float32 of which that holds. What is exact
/// stays exact, for a float64 is not a float32 by luck. What is not finite stays as it is.
float off_as_usual(float value, double expected, double usual);

/// @brief Moves elements of O, lse, m and l away from what is expected, until they are off_as_usual(): the
/// sum of the weights, the sum of the weighted values and the logarithm are rounded, and the scores are off
/// by as much as the baseline's own. Cost: 6 · B · H · Nq · Nk · D operations in float64.
void add_usual_rounding(Baseline& baseline, const Problem& p, const reference::Attention& expected);

/// @brief The same for dQ and dK: the sum of their terms, and in each term P, dP and delta, which are off by
/// what rounding may do to sums of D products.
/// Cost: 14 · B · H · Nq · Nk · D operations in float64, less what the mask hides.
void add_usual_rounding(Backward& baseline, const BackwardProblem& p, const Backward64& expected);

}  // namespace course::attention_tests
