#pragma once
/// @file
/// The well-known mistakes of backward kernels, as grading/testing/mistakes.hpp wants them.

#include <string>
#include <vector>

#include "attention/gradient_deviation.hpp"
#include "attention/mistakes.hpp"
#include "grading/testing/mistakes.hpp"

namespace course::attention_tests {

/// @brief What every backward kernel may get wrong in this result: delta, P from lse, dP, dS, the products,
/// scale, reading, heads, mask, missing tiles, dsink, output. Only what the problem has: no mask, no mistakes
/// of masks. Each name occurs once. `p` must outlive the mistakes, which compute only when they are asked.
grading::Mistakes mistakes_in(const BackwardProblem& p, Gradient which);

/// A kernel that deviates so, and what to say of it.
struct NamedGradientDeviation {
  std::string name;
  GradientDeviation how;
  std::string sentence;
};

/// @brief Those of mistakes_in() that are deviations; several may have the same name.
std::vector<NamedGradientDeviation> deviations_in(const BackwardProblem& p, Gradient which);

/// @brief A mistake of a lesson's own: fits if every element is what a kernel that deviates so gives.
grading::Mistake deviation(std::string name, const BackwardProblem& p, Gradient which, GradientDeviation how,
                           std::string sentence);

}  // namespace course::attention_tests
