#pragma once
/// @file
/// The part of the course that a submission may include.

#include <filesystem>
#include <string>
#include <vector>

#include "grading/project/lesson.hpp"

namespace course::classroom {

/// @brief Makes `folder`, which does not exist yet, a small copy of the course as the compiler of one
/// lesson's submissions is to see it: the lesson's contract, CUDA's headers for the simulator, those headers
/// of common/device that the course has introduced by then, and an empty folder `submission`. Nothing of
/// solutions or references. A header of common/device counts as introduced by the first lesson whose stub or
/// solution includes it.
/// @throws std::system_error
void make_course_view(const std::filesystem::path& folder, const grading::Lesson& lesson,
                      const std::vector<grading::Lesson>& lessons);

/// @brief A sentence for a file that does not compile because it includes a header of common/ that its lesson
/// does not have yet; empty for any other.
/// @param message  what the compiler said
std::string explain_missing_header(const std::string& message, const grading::Lesson& lesson);

}  // namespace course::classroom
