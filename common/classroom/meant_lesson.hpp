#pragma once
/// @file
/// Files that count for no lesson: what they are, and which lesson their names probably mean.

#include <string>
#include <string_view>
#include <vector>

#include "grading/project/lesson.hpp"

namespace course::classroom {

/// A file that a student handed in and that counts for no lesson.
struct UncountedFile {
  std::string file;   ///< within the student's folder
  std::string why;    ///< what follows the file's name in a sentence: "is a PDF"
  std::string meant;  ///< id of the lesson that its name comes near; empty: none
};

/// @brief The lesson that somebody probably meant who called a file, or a folder, so: its id; empty if no
/// name, or more than one, comes near. Such are "vectoradd.cu", "vecotr_add.cpp", "my_vector_add.pdf",
/// "lesson1.cu".
std::string meant_lesson(std::string_view file, const std::vector<grading::Lesson>& lessons);

/// @brief "a PDF", "a notebook": what a file that is no source is by the ending of its name; empty if that
/// says nothing.
std::string format_by_name(std::string_view name);

/// @brief The same by what it begins with, whatever its name is: "a PDF".
std::string format_by_content(std::string_view content);

/// @brief Whether the ending is that of a packed folder in which a student's files may be, but no zip.
bool is_foreign_archive(std::string_view name);

/// @brief "vectoradd.cu, probably 01_vector_add.cu; notes.pdf": for one line, however many there are.
std::string uncounted_list(const std::vector<UncountedFile>& files);

}  // namespace course::classroom
