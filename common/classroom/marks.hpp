#pragma once
/// @file
/// What the grading of a class came to, before it is written in any format.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "classroom/meant_lesson.hpp"
#include "grading/project/lesson.hpp"
#include "grading/project/toolchain.hpp"

namespace course::classroom {

/// One test case, as one file did in it.
struct CaseMark {
  std::string name;
  bool hidden = false;  ///< on data from the secret seed; `message` says nothing about them
  bool passed = false;
  double points = 0;      ///< reached
  double max_points = 0;  ///< half of the case's own where there are hidden cases, and the other half there
  std::string message;    ///< why it failed, for the student; several lines
  std::vector<std::string> diagnoses;  ///< names of mistakes and classes of findings, e.g. "race"
};

/// What became of one student's file for one lesson.
enum class Standing {
  graded,        ///< its tests ran; see the cases
  not_compiled,  ///< no points; `message` has the compiler's words
  refused,       ///< no points; `message` says what about the file is not allowed
  missing,       ///< no points; nothing was handed in
  ungraded,      ///< this machine is to blame; `message` says how. The points are not known
};

/// "graded", "not_compiled", "refused", "missing" or "ungraded".
const char* standing_name(Standing standing);

struct LessonMark {
  grading::Lesson lesson;
  Standing standing = Standing::missing;
  std::string file;                ///< within the submission; empty if missing
  std::string handed_in;           ///< "2026-11-22 17:30:14", local time; empty if nobody knows
  bool late = false;               ///< after the class's deadline
  std::string message;             ///< empty if graded
  std::vector<std::string> notes;  ///< sentences: which of several files counted, what lateness cost
  std::vector<CaseMark> cases;     ///< open ones first, in the order of the tests
  double earned = 0;               ///< sum over the cases
  double points = 0;               ///< what counts: `earned`, less what lateness costs
  double max_points = 0;
  double seconds = 0;  ///< that grading took; 0 if the same file had been graded for another student
};

std::size_t passed_cases(const LessonMark& mark);

struct StudentMarks {
  std::string name;    ///< as the submission's folder has it; may hold any character but / and NUL
  std::string id;      ///< that a learning platform gave; empty if unknown
  std::string folder;  ///< of the student's results, safe as a file name and in a link once percent-encoded
  std::vector<std::string>
      notes;  ///< sentences about the submission as a whole, e.g. files that no lesson wants
  std::vector<LessonMark> lessons;  ///< one for each lesson of the class, in its order
  std::vector<UncountedFile> uncounted{};
};

struct ClassMarks {
  std::string title;                     ///< of the class: the name of the submissions' folder
  std::vector<grading::Lesson> lessons;  ///< that were graded, in order
  std::vector<StudentMarks> students;    ///< sorted by name
  grading::Backend backend = grading::Backend::cpu;
  std::string isolation;   ///< "namespaces" or "process"
  std::uint64_t seed = 0;  ///< of the open cases
  bool has_hidden = false;
  std::vector<std::string> notes{};  ///< sentences about what belongs to no student
};

/// @brief Whether the points of a student are not known, as one of the files is not graded.
bool has_ungraded(const StudentMarks& student);

double points(const StudentMarks& student);
double max_points(const StudentMarks& student);

/// @brief "12" or "12.5": points without digits that say nothing.
std::string format_points(double points);

}  // namespace course::classroom
