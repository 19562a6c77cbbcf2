#pragma once
/// @file
/// The well-known mistakes of attention kernels, as grading/testing/mistakes.hpp wants them.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attention/deviation.hpp"
#include "grading/testing/mistakes.hpp"

namespace course::attention_tests {

/// @brief What every attention kernel may get wrong in this result: scale, reading, heads, mask, missing keys
/// and dims, the recurrence over tiles of 8 to 256 keys, division, lse, learned sink, output. Only what the
/// problem has: no mask, no mistakes of masks. Each name occurs once. `p` must outlive the mistakes, which
/// compute only when they are asked. `block_attends`: without those of the recurrence, of the division and of
/// lse, since device::ForwardBlock does all of that.
grading::Mistakes mistakes_in(const Problem& p, Which which, bool block_attends = false);

/// A kernel that deviates so, and what to say of it.
struct NamedDeviation {
  std::string name;
  Deviation how;
  std::string sentence;
};

/// @brief Those of mistakes_in() that are deviations; several may have the same name.
std::vector<NamedDeviation> deviations_in(const Problem& p, Which which);

/// @brief A mistake of a lesson's own: fits if every element is what a kernel that deviates so gives.
grading::Mistake deviation(std::string name, const Problem& p, Which which, Deviation how,
                           std::string sentence);

/// @brief The same for one that overflows float32: where it gives NaN or an infinity, either fits, since
/// which of them a kernel gives depends on the order of its sums.
grading::Mistake overflowing_deviation(std::string name, const Problem& p, Which which, Deviation how,
                                       std::string sentence);

/// @brief Whether an element is NaN, and should be. That says nothing of a mistake whose model has a number
/// there: the kernel may as well have multiplied a NaN that it hides by 0.
bool is_nan_as_expected(const grading::WrongResult& result, Int i);

/// @brief The sentence if every element is what the mistake gives, but for rounding and for NaN that should
/// be there. A wrong kernel may round more than a right one; and where the right result needs no rounding,
/// the test's bound is 0. Empty if the mistake's numbers fit, but differ from the right ones by no more than
/// that rounding.
std::optional<std::string> gives_rounded(const std::string& name,
                                         const std::function<Tensor<double>()>& wrong,
                                         const std::string& sentence, const grading::WrongResult& result);

/// @brief grading::gives() with the bound of gives_rounded().
grading::Mistake gives_about(std::string name, std::function<Tensor<double>()> wrong, std::string sentence);

/// @brief One mistake for each name. Of those that shared it (the same mistake at several tile widths, say)
/// the first that fits speaks, so that a result which several of them explain is not left without a
/// diagnosis.
grading::Mistakes by_name(grading::Mistakes mistakes);

/// @brief Mistakes of where results go, which no race makes up: to the place of head 0 or of batch 0, or to
/// that of a grid with head and batch exchanged, or of a result that is stored so while the others are right.
/// Those that mistakes_in() does not have are marked `alone`.
struct Misplacement {
  grading::Mistake mistake;
  bool alone = false;
};
std::vector<Misplacement> misplacements_in(const Problem& p, bool others_are_right = false);

/// @brief Fits if exactly the elements at these indices were written, rightly or not, and some others never.
grading::Mistake only_written(std::string name, std::function<bool(const grading::Index&)> where,
                              std::string sentence);

inline constexpr const char *kOnlyHead0 = "only_head_0_written", *kOnlyBatch0 = "only_batch_0_written";

/// Fit if no head but the first of each batch was written, or no batch but the first.
grading::Mistake only_head_0_written();
grading::Mistake only_batch_0_written();

/// @brief Fits if the wrong elements are exactly those from some multiple of 8 on, along an axis, and each
/// was never written or is 0, or -inf. "{}" in the sentence becomes that multiple. `if_written`, if there is
/// one, is told instead where one of them was written.
grading::Mistake missing_tail(std::string name, std::size_t axis, std::string sentence,
                              std::string if_written = "");

/// For missing_tail() along an axis of queries.
inline constexpr const char* kLastQueriesEmpty =
    "The last queries, those from {} on, are stored as if they saw no key: nothing was added up for them. "
    "Does the loop over the keys end before it comes to theirs?";
inline constexpr const char* kLastQueriesMissing =
    "The last queries are missing: those from {} on. No block computes them (does the grid, or the loop over "
    "the queries, count all Nq? does it end early?), or their results are not stored, or in another place.";

/// @brief Widths of 8 to 256 that are less than `size`.
std::vector<Int> tile_widths(Int size);

/// @brief Where tiles of 4, 8, ... 256 elements would end if the last, partial one were forgotten; each end
/// once.
std::vector<Int> ends_of_whole_tiles(Int size);

}  // namespace course::attention_tests
