#pragma once
/// @file
/// What the student has reached, kept in one small file: points, passes, and the hints that were shown.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "grading/judging/lesson_check.hpp"

namespace course::cli {

/// Names for the contents that a verdict is about; see grading::hash_file().
struct Fingerprint {
  std::string kernel;  ///< the student's own file
  std::string tests;   ///< what it is held against: lesson.json, the contract and the sources of the tests
};

/// @brief Of the files as they are now. Cost: reads them all, up to 400 KB for a lesson on attention.
Fingerprint fingerprint(const grading::Lesson& lesson);

/// @brief Whether the file is the lesson's stub as the course gives it; also if nobody can tell, because this
/// copy of the course comes without solutions.
bool is_pristine(const grading::Lesson& lesson, const std::filesystem::path& file);

/// What is remembered of one lesson.
struct LessonProgress {
  bool passed = false;  ///< at the last check, as are points and judged
  int points = 0;
  int best = 0;         ///< the most points of any check
  std::string checked;  ///< when, as "2026-11-23T09:30:00Z"; empty: never
  Fingerprint judged;
  int hints = 0;  ///< how many were shown
};

struct Progress {
  std::map<std::string, LessonProgress> lessons;  ///< by Lesson::id()
  std::string problem;  ///< what is wrong with the file, and what became of it, in sentences; empty: nothing
  bool kept = true;     ///< whether what is learned now can be saved
};

/// @brief Where progress is kept: the file that COURSE_PROGRESS names, else progress.json in `root`.
std::filesystem::path progress_file(const std::filesystem::path& root);

/// @brief What the file says; nothing is remembered if there is none. A broken one is renamed, never
/// overwritten; one from a newer course, or one that cannot be read, stays as it is.
Progress load_progress(const std::filesystem::path& file);

/// @brief Changes what is remembered, so that no other program's change is lost and a crash leaves the old
/// file or the new one.
/// @return Progress::problem, or why nothing was saved; empty if all is well.
std::string update_progress(const std::filesystem::path& file, const std::function<void(Progress&)>& change);

/// @brief Remembers a verdict on the student's own file.
/// @param judged the fingerprint from before the kernel was compiled, so that an edit meanwhile shows
void record_check(Progress& progress, const grading::LessonReport& report, const Fingerprint& judged);

/// @brief Says it on stderr; says nothing if it is empty.
void tell_problem(const Terminal& terminal, const std::string& problem);

/// How a lesson stands, by what is remembered and by the files as they are now.
struct Standing {
  LessonProgress record;
  bool begun = false;          ///< it was checked, or the file is not the stub any more
  bool edited_since = false;   ///< the file is not what was checked
  bool tests_changed = false;  ///< it passed, and what it was held against is not the same any more

  /// Whether the verdict still holds for the tests as they are.
  bool passed() const { return record.passed && !tests_changed; }
};

Standing standing_of(const grading::Lesson& lesson, const Progress& progress);

/// @brief The lesson that the student is at: the first that has not passed and was edited or checked, else
/// the first that has not passed; nullptr if all have.
const grading::Lesson* lesson_at(const std::vector<grading::Lesson>& lessons, const Progress& progress);

}  // namespace course::cli
