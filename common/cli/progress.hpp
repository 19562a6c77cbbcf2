#pragma once
/// @file
/// What the student has reached so far, kept in the build folder.

#include <filesystem>
#include <optional>

#include "grading/lesson_check.hpp"

namespace course::cli {

struct Progress {
  int points = 0;
  bool passed = false;
  bool edited_since = false;  ///< the file is not what was checked
};

/// @brief Remembers a report on the student's own file. A folder that cannot be written is no reason to fail.
void save_progress(const std::filesystem::path& build_folder, const grading::LessonReport& report) noexcept;

/// @brief The last result of a lesson; nothing if it was never checked.
std::optional<Progress> load_progress(const std::filesystem::path& build_folder,
                                      const grading::Lesson& lesson);

}  // namespace course::cli
