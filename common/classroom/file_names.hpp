#pragma once
/// @file
/// What the names of files and folders say: whose they are, and for which lesson.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grading/project/lesson.hpp"

namespace course::classroom {

/// What a learning platform puts into the name of a file or folder that it downloads.
struct PlatformName {
  std::string student;
  std::string id;     ///< digits, as a rule
  bool late = false;  ///< the platform says so
  std::string file;   ///< as the student called it; empty for a folder
};

/// @brief Canvas's "lovelaceada_LATE_123_456_01_vector_add-2.cu": name, user, upload, file. Nothing if the
/// name is of another kind.
std::optional<PlatformName> parse_canvas_name(std::string_view name);

/// @brief Moodle's "Ada Lovelace_123_assignsubmission_file" before a file's name. Nothing if the name is of
/// another kind.
std::optional<PlatformName> parse_moodle_name(std::string_view name);

/// @brief The same of a folder, where no name of the student's own follows: the last mark is Moodle's.
std::optional<PlatformName> parse_moodle_folder(std::string_view name);

enum class Platform { canvas, moodle };

/// @brief The platform that names of one class come from: what only one of the two can have made decides.
/// Nothing if none does. What a platform makes, it begins; after that a student may put whatever looks like
/// the other one's, with a classmate's name.
std::optional<Platform> platform_of(const std::vector<std::string>& names);

/// @brief What that platform says in the name; where it is not known, the platform whose part ends first.
std::optional<PlatformName> parse_platform_name(std::string_view name, std::optional<Platform> platform = {});

/// What a file's name says about a lesson.
struct LessonName {
  int lesson = 0;             ///< its number
  std::uint64_t version = 0;  ///< 2 for "01_vector_add-2.cu"; "_final" is later than any number
};

/// @brief The lesson that a file is for by its name: "01_vector_add.cu" or "vector_add.cu", with a version or
/// a platform's decorations. Case does not matter; dashes and spaces count as underscores. If several lessons
/// have the name, that of a folder such as "01_vector_add" around the file decides.
/// @param folders the names of the folders around the file, the outermost first
std::optional<LessonName> lesson_of(std::string_view file, const std::vector<std::string>& folders,
                                    const std::vector<grading::Lesson>& lessons);

/// @brief Whether the name ends so; `suffix` is in lower case, and the name's case does not matter.
bool ends_with(std::string_view name, std::string_view suffix);

/// @brief Whether a name has .cu in it as its ending once was: "a.cu.txt", "a.cu~", "a.cu (1)".
bool had_suffix_cu(std::string_view name);

/// @brief Whether a system or a tool made it: ".git", ".DS_Store", "__MACOSX". "..." is not hidden: a student
/// may be called so.
bool is_hidden(std::string_view name);

/// @brief Whether a hidden one is a tool's or a system's by its name, and nobody's work: ".git", not
/// ".homework".
bool is_of_tool(std::string_view name);

/// @brief A path on one line, for sentences: one_line(), cut after 200 bytes.
std::string shown(std::string_view path);

/// @brief "a, b and 3 others": the names in sentences, at most ten of them.
std::string shown_list(const std::vector<std::string>& paths);

}  // namespace course::classroom
