#pragma once
/// @file
/// Who of the class is who in a learning platform's table.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classroom/marks.hpp"

namespace course::classroom {

/// What a row of the platform's table says about its student.
struct RosterRow {
  std::vector<std::string>
      ids;           ///< numbers, logins, addresses; those that are surest first; empty ones match nobody
  std::string name;  ///< "Ana Lima" or "Lima, Ana"
};

/// The row of one student.
struct RosterMatch {
  std::optional<std::size_t> row;
  std::string
      problem;  ///< if there is none: why, as the end of a sentence that begins with the student's name
};

/// @brief One match for each student, in order. An equal id counts more than a folder named like an id, and
/// that more than an equal name. Names are compared without case, spaces and punctuation, and in both orders
/// if one has a comma; so "limaana", as Canvas names its downloads, is "Lima, Ana". Where several rows fit a
/// student equally, none is the student's. Where several students fit a row, the one with the surest id gets
/// it; without an id, none of them does: a wrong grade is worse than none. Cost: students times rows.
std::vector<RosterMatch> match_students(const std::vector<StudentMarks>& students,
                                        const std::vector<RosterRow>& rows);

/// @brief Letters and digits only, in lower case: ASCII, Latin, Greek and Cyrillic; other scripts as they
/// are.
std::string letters_only(std::string_view text);

}  // namespace course::classroom
