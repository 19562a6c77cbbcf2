#pragma once
/// @file
/// The mistakes that lessons' tests know by a wrong result: their names stand in feedback and results files.
/// The test programs list them, when they are built, in a file beside each.

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grading/facts/listing.hpp"
#include "grading/project/lesson.hpp"
#include "grading/project/toolchain.hpp"

namespace course::cli {

/// What the project knows about a mistake.
struct KnownMistake {
  std::string name;
  std::vector<std::string> sentences{};  ///< what students are told, each once; "..." stands for numbers
  std::vector<std::string> kernels{};    ///< what is wrong in known-wrong kernels that have it
  std::set<int> lessons{};               ///< whose tests or known-wrong kernels name it
  std::set<int> not_built{};             ///< those of them whose tests have not listed their sentences yet
  bool known() const { return !lessons.empty(); }
};

/// @brief Where the build writes the lesson's mistakes; empty if it does not know the lesson.
std::filesystem::path mistakes_file(const grading::Toolchain& toolchain, const grading::Lesson& lesson);

/// @brief The mistakes that the lesson's tests know; nothing if they were not built yet.
std::optional<std::vector<grading::ListedMistake>> read_mistakes(const grading::Toolchain& toolchain,
                                                                 const grading::Lesson& lesson);

/// @brief Looks a mistake up in what the lessons' tests list, and in their known-wrong kernels.
KnownMistake find_mistake(const grading::Toolchain& toolchain, const std::vector<grading::Lesson>& lessons,
                          std::string_view name);

/// @brief All names that tests and known-wrong kernels give: mistakes and classes of findings.
std::set<std::string> names_of_mistakes(const grading::Toolchain& toolchain,
                                        const std::vector<grading::Lesson>& lessons);

}  // namespace course::cli
