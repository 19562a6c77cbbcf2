#pragma once
/// @file
/// What the checks of forward and backward kernels have in common.

#include <functional>
#include <vector>

#include "attention/checks.hpp"
#include "attention/mistakes.hpp"
#include "grading/facts/outcome.hpp"
#include "grading/testing/compare.hpp"
#include "grading/testing/mistakes.hpp"
#include "grading/testing/settings.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace course::attention_tests {

/// Whether a result holds nothing but poison, and anything at all.
bool never_written(const Tensor<float>& x);

/// Where a query has one key, the baseline is exact; a kernel that takes another maximum rounds twice.
inline const grading::Bound kBound{.floor = 0x1p-22};

/// @brief The bound of a result of the problem's type, whose parts may be off by `rounding` where operands
/// are rounded to it.
grading::Bound bound_of_16_bits(const Problem& p, Tensor<double> rounding);

/// A result of a kernel beside what it should be.
struct Result {
  grading::ArrayName name;
  const Tensor<float>* got;
  const Tensor<double>* expected;
  const Tensor<float>* baseline;
  std::function<grading::Mistakes()> mistakes;  ///< asked for only if it is wrong
  grading::Bound bound = kBound;
};

/// @brief What is wrong with a kernel's results, those that were never written last. Mistakes are held
/// against each wrong result; once some explain one, only these against the others, which takes less time.
std::vector<grading::Failure> failures_of(std::vector<Result> results);

/// @brief Whether something was written past an output, or into its gaps.
bool wrote_elsewhere(const grading::Outcome& outcome);

/// @brief Whether check mode found what keeps mistakes from being told: not accesses outside of arrays alone.
bool hides_causes(const grading::Outcome& outcome);

/// @brief The first wrong result that one of these explains, said in a failure of its own: findings of check
/// mode keep other mistakes from being told, but do not make these up. Nothing without such findings.
std::vector<grading::Failure> despite_findings(const grading::Outcome& outcome,
                                               const std::vector<Result>& results,
                                               const std::vector<Misplacement>& misplaced);

/// @brief The names of the axes of results of this rank: batch, head, `row`, column.
std::vector<std::string> axes_of(std::size_t rank, const char* row);

/// @brief Numbers of heads that K must not have beside H of Q: one below H and one above.
std::vector<Int> other_heads(Int H, bool grouped, Random& random);

/// @brief Shapes that do not fit Q, with as many keys as K has.
std::vector<Shape> other_shapes_of_K(const Problem& p, bool grouped, Random& random);

/// What draws the shapes and rows that are refused: in each type others.
Random random_of_refusals(const Problem& valid);

/// @brief What arguments that do not fit are made of: `valid`, one of other sizes, and that one without
/// batches and without queries. That there is nothing to do excuses no argument.
std::vector<Problem> valid_in_all_sizes(const Problem& valid);

/// @brief Numbers of dims that are refused: 0, the first above `max_dim`, a drawn one, and in 16 bits one
/// that is no multiple of 8.
std::vector<Int> other_dims(const Problem& valid, Int max_dim, Random& random);

Tensor<float> ones(Shape shape);

/// Work in tiles of 64 queries and 64 keys, whole or in part.
Int tiles_of(const Problem& p);

/// @brief The settings causal, window and sinks, with these defaults.
/// @throws grading::RunError for settings that the kernel does not have.
reference::Mask read_mask(grading::Settings& settings, const Takes& takes,
                          const reference::Mask& defaults = {});

}  // namespace course::attention_tests
