#pragma once
/// @file
/// The mistakes that lessons' tests know by a wrong result: their names stand in feedback and results files.

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grading/project/lesson.hpp"

namespace course::cli {

/// What the project's files say about a mistake.
struct KnownMistake {
  std::string name;
  std::vector<std::string> sentences{};  ///< what students are told, each once; "..." stands for numbers
  std::vector<std::string> kernels{};    ///< what is wrong in known-wrong kernels that have it
  std::set<int> lessons{};               ///< whose tests or known-wrong kernels name it
  bool in_attention_lessons = false;     ///< the attention lessons' common tests name it
  bool known() const { return in_attention_lessons || !lessons.empty(); }
};

/// @brief Looks a mistake up in the lessons' tests and known-wrong kernels.
KnownMistake find_mistake(const std::vector<grading::Lesson>& lessons, std::string_view name);

/// @brief All names that known-wrong kernels give: mistakes and classes of findings.
std::set<std::string> diagnoses_of_mutants(const std::vector<grading::Lesson>& lessons);

/// @brief The sentences that a test's source gives a mistake: the last words of each call, or list in braces,
/// that begins with the mistake's name.
std::vector<std::string> sentences_in_source(std::string_view source, std::string_view name);

}  // namespace course::cli
