#pragma once
/// @file
/// What a class handed in: one folder (or zip) per student, files of any name and any kind in it.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "classroom/meant_lesson.hpp"
#include "grading/project/lesson.hpp"

namespace course::classroom {

/// The file that counts for one lesson of one student.
struct Submission {
  std::string file;         ///< within the student's folder, for people
  std::string content;      ///< empty if `problem` is not
  std::string problem;      ///< why the file is not looked at, in one sentence for the student; empty: it is
  bool unreadable = false;  ///< the problem is this machine's, and not the student's
  std::string handed_in;    ///< "2026-11-22 17:30:14", local time, from the file; empty if nobody knows
  bool late = false;        ///< the learning platform says so, or it is newer than the deadline
  std::vector<std::string> notes;  ///< sentences: which files for this lesson do not count, and why
};

struct Student {
  std::string name;                     ///< as the folder or the platform has it; any bytes but / and NUL
  std::string id;                       ///< that the platform gave; empty if unknown
  std::map<int, Submission> by_lesson;  ///< by lesson number; a lesson without a file has no entry
  std::vector<std::string> notes;       ///< sentences, e.g. about files that no lesson wants
  std::vector<UncountedFile> uncounted{};
  std::string unreadable{};  ///< why this machine could not look at all of it, a sentence; empty: it could
};

struct SubmissionOptions {
  std::filesystem::path unpack_script;  ///< common/classroom/unpack_submissions.py
  std::filesystem::path scratch;        ///< where zips are unpacked; exists
  std::string deadline;  ///< "2026-11-22 17:30" or "2026-11-22 17:30:14", local time; empty: none
  /// Called with a sentence about each thing that belongs to no student; may be empty.
  std::function<void(const std::string&)> on_note{};
};

/// @brief Reads all that a class handed in. Never follows a symbolic link, never opens what is not a regular
/// file. The students are sorted by name, and no two have the same one.
/// @param lessons all that there are: a file for one that is not among them is told to be of no lesson
/// @throws std::invalid_argument in a sentence if `root` is neither a folder nor a zip, or has no students in
/// it, or the deadline is not a date.
/// @throws grading::MachineError if this machine cannot read it
std::vector<Student> read_submissions(const std::filesystem::path& root,
                                      const std::vector<grading::Lesson>& lessons,
                                      const SubmissionOptions& options);

/// Files that are larger than this are no submission.
inline constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{1} << 20;

}  // namespace course::classroom
