#pragma once
/// @file
/// The submissions as JPlag and similar programs want them: a folder for each lesson.

#include <filesystem>
#include <vector>

#include "classroom/submissions.hpp"
#include "grading/project/lesson.hpp"

namespace course::classroom {

/// @brief Writes, for each lesson that anybody handed in,
/// ```
/// folder/01_vector_add/submissions/<student>/01_vector_add.cpp
/// folder/01_vector_add/base/01_vector_add.cpp
/// ```
/// where `base` has the stub: what all students have alike because they were given it. The ending is .cpp, by
/// which JPlag chooses its C++ front end. Files with a problem are left out.
/// What an earlier call wrote to the folder is removed first, and nothing else; folder/exported_files.txt
/// says what that is.
/// @throws grading::MachineError if the folder cannot be written or a stub cannot be read
void export_for_similarity(const std::filesystem::path& folder, const std::vector<Student>& students,
                           const std::vector<grading::Lesson>& lessons);

}  // namespace course::classroom
