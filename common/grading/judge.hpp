#pragma once
/// @file
/// The tests of a lesson, themselves tested: kernels that must pass and kernels that must not.

#include <filesystem>
#include <string>
#include <vector>

#include "grading/lesson_check.hpp"

namespace course::grading {

enum class VariantKind { stub, solution, alternative, mutant };

/// A kernel of which it is known how the lesson's tests should judge it.
struct Variant {
  VariantKind kind;
  std::string name;  ///< "stub", "solution", "alternative/grid_stride", "mutant/off_by_one"
  std::filesystem::path file;
};

/// @brief All variants of a lesson: stub, solution, alternatives, mutants.
std::vector<Variant> variants_of(const Lesson& lesson);

/// @brief The sentences of a mutant's header that a rejection must contain: its "// Expect:" lines, or on a
/// GPU its
/// "// Expect-gpu:" lines if it has any. "nothing" there: a GPU cannot tell, and the mutant passes.
std::vector<std::string> expectations(const std::string& code, Backend backend);

struct Judgement {
  bool as_expected = false;
  std::string reason;  ///< one line: what happened, or what should have
};

/// @brief Holds a report against what is known about the variant.
/// A stub fails, with a reason for each failed case. A solution or an alternative passes with all points. A
/// mutant fails, and a failed case says every sentence of its header.
Judgement judge(const Variant& variant, const LessonReport& report, Backend backend);

}  // namespace course::grading
