#pragma once
/// @file
/// What a class's marks come to as a whole: the numbers of the cohort page, without its form.

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "classroom/marks.hpp"

namespace course::classroom {

/// What a student reached in a lesson, as coarsely as a colour shows it.
enum class Level { all, most, some, none, stopped, missing, ungraded };
inline constexpr std::size_t kLevels = 7;

/// @brief all: full points; most: at least half; some: more than none; stopped: not compiled, or refused.
Level level(const LessonMark& mark);

/// "all points", "at least half", ...: in words that stand behind a number of students.
const char* level_words(Level level);

/// Numbers of one lesson over all students.
struct LessonNumbers {
  std::size_t handed_in = 0;  ///< files of any standing but missing
  std::size_t known = 0;      ///< files of which the points are known: handed in, and not ungraded
  std::size_t tested = 0;     ///< files whose tests ran
  std::size_t late = 0;
  std::size_t not_compiled = 0, refused = 0, missing = 0, ungraded = 0;
  std::array<std::size_t, kLevels> levels{};  ///< students by Level; their sum is all students
  double mean = 0, median = 0;                ///< of the points of the `known` files; 0 if there are none
};

/// A case over all students whose tests ran.
struct CaseNumbers {
  std::size_t lesson = 0;  ///< index into ClassMarks::lessons
  std::string name;
  std::size_t tested = 0;
  std::size_t failed = 0;              ///< students that failed it, on open or on hidden data
  std::size_t failed_hidden_only = 0;  ///< of these, those that passed it on open data
};

/// A mistake or a class of findings, over all students.
struct DiagnosisNumbers {
  std::string name;
  std::size_t students = 0;
  std::vector<std::size_t> lessons;  ///< indices into ClassMarks::lessons, ascending
};

/// Points of each student over all lessons, as a share of what can be reached.
struct TotalNumbers {
  std::array<std::size_t, 10> bins{};  ///< [0, 10 %), ..., [90 %, 100 %]
  std::size_t known = 0;               ///< students without an ungraded file
  std::size_t ungraded = 0;            ///< students that are left out, as their points are not known
  std::size_t all_points = 0;
  double mean = 0, median = 0;  ///< in points; 0 if nothing is known
  double max_points = 0;        ///< of the class's lessons
};

/// A file and how long it took: indices into ClassMarks::students and ClassMarks::lessons.
struct FileTime {
  std::size_t student = 0, lesson = 0;
  double seconds = 0;
};

/// @brief One entry for each lesson of the class, in its order. A student with fewer lessons than the class
/// counts as missing there.
std::vector<LessonNumbers> lesson_numbers(const ClassMarks& marks);

/// @brief Cases that at least one student failed, most failed first, then in the order of lessons and tests.
/// An open case and the hidden one of its name are one entry.
std::vector<CaseNumbers> failed_cases(const ClassMarks& marks);

/// @brief Diagnoses by the number of students that got them, then by name.
std::vector<DiagnosisNumbers> diagnoses(const ClassMarks& marks);

/// @brief Points over all lessons, without the students that have an ungraded file.
TotalNumbers total_numbers(const ClassMarks& marks);

/// @brief The files that took longest, at most `count`, without those that took no time of their own.
std::vector<FileTime> slowest_files(const ClassMarks& marks, std::size_t count);

/// @brief Different hidden cases over all lessons.
std::size_t hidden_cases(const ClassMarks& marks);

/// @brief Files that were handed in, over all students.
std::size_t files(const ClassMarks& marks);

}  // namespace course::classroom
