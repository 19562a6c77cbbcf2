#pragma once
/// @file
/// The tests of a lesson, themselves tested: kernels that must pass and kernels that must not.

#include <filesystem>
#include <string>
#include <vector>

#include "grading/judging/lesson_check.hpp"

namespace course::grading {

enum class VariantKind { stub, solution, alternative, mutant };

/// A kernel of which it is known how the lesson's tests should judge it.
struct Variant {
  VariantKind kind;
  std::string name;            ///< "stub", "solution", "alternative/grid_stride", "mutant/off_by_one"
  std::filesystem::path file;  ///< of a stub: the solution that it is made of
};

/// @brief All variants of a lesson: stub, solution, alternatives, mutants.
std::vector<Variant> variants_of(const Lesson& lesson);

/// @brief The kernel's file. A stub's or a mutant's is written first, below `folder`, unless it is there
/// already.
/// @throws std::runtime_error with a sentence if the mutant's edits do not fit the solution, or no stub can
/// be made of it.
std::filesystem::path kernel_of(const Variant& variant, const Lesson& lesson,
                                const std::filesystem::path& folder);

struct Judgement {
  bool as_expected = false;
  std::string reason;  ///< one line: what happened, or what should have
};

/// @brief Holds a report against what is known about the variant.
/// A stub fails, with a reason for each failed case. A solution or an alternative passes with all points;
/// that the cases of a solution take more than kManySeconds in the simulator is said. A mutant fails, some
/// failed case says each sentence that it expects, and each diagnosis that it names fits: a mistake explains
/// some result (grading/testing/mistakes.hpp), or an error of check mode is of that class. Check mode finds
/// no errors of other classes, and the cause that a student is told is among those names. In the simulator,
/// the case that the mutant names says and records all of that by itself.
Judgement judge(const Variant& variant, const LessonReport& report, Backend backend);

/// @brief Whether a mutant is rejected already as its file says, whatever the cases left would say: they
/// could only add a diagnosis that the file does not name. Never so with the other kinds of variants.
bool rejected_already(const Variant& variant, const std::vector<CaseResult>& so_far, Backend backend);

/// @brief Whether a report of run mode alone may settle the variant: if judge() finds it as expected, it is.
/// So it is with a stub, and with a mutant unless its file says that only check mode can tell: it names a
/// finding that run mode never makes, or passes where nothing is counted. What run mode leaves out are the
/// findings of check mode that the mutant does not name.
bool run_mode_may_settle(const Variant& variant);

/// Longer than this the tests of a solution should not take in the simulator: students run them often.
inline constexpr double kManySeconds = 20;

}  // namespace course::grading
