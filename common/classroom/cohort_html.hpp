#pragma once
/// @file
/// Pieces of the cohort page: texts, tables and pictures, safe whatever a name or a message holds.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "classroom/cohort_numbers.hpp"
#include "grading/project/lesson.hpp"

namespace course::classroom {

/// @brief Any text as the content of an element or of a quoted attribute: one line, valid UTF-8, nothing that
/// HTML would take for more than text.
std::string escaped(std::string_view text);

/// @brief A name whose direction of writing does not touch what stands around it.
std::string name_html(std::string_view name);

/// @brief The first line of a message that says something, at most 200 bytes of it, escaped.
std::string headline(std::string_view message);

/// "17.3": a mean or a median.
std::string one_decimal(double value);

/// "01 Vector add", escaped.
std::string lesson_html(const grading::Lesson& lesson);

/// "01, 04", or "all 18 lessons": `lessons` are indices into those of the class.
std::string lesson_list(const ClassMarks& marks, const std::vector<std::size_t>& lessons);

/// @brief A section with its heading; `id` is what links lead to.
std::string section(std::string_view id, std::string_view title, const std::string& content);

/// @brief A paragraph of HTML.
std::string paragraph(std::string_view html);

/// A column's head: its text is HTML, and so is what the columns hold.
struct Column {
  std::string head;
  bool is_number = false;  ///< set right, and the script sorts it as a number
};

/// @brief A table in a box that scrolls by itself where the screen is narrower. The first cell of each row is
/// its head. `name` is its class and part of its caption's id; `caption` is HTML.
std::string table(const std::string& name, const std::string& caption, const std::vector<Column>& columns,
                  const std::vector<std::vector<std::string>>& rows);

/// @brief The same, or a sentence in its place if it has no rows.
std::string table_or(const std::string& sentence, const std::string& name, const std::string& caption,
                     const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows);

/// @brief A bar of `share` (0 to 1) of its width, for beside the number that it shows; silent for a screen
/// reader.
std::string share_bar(double share);

/// @brief A bar with a piece for each level, as wide as its share of the class, described in words.
std::string level_bar(const LessonNumbers& numbers);

/// @brief The colours of the levels and what they mean.
std::string level_key();

/// @brief Students by tenths of the points, as a picture with a description.
std::string histogram(const TotalNumbers& numbers);

/// @brief The name of a level's colour in the style sheet, e.g. "level-most".
const char* level_class(Level level);

}  // namespace course::classroom
