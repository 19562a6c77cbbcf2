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
  bool passed = false;              ///< at some check; what the student tries later takes nothing back
  std::string passed_tests;         ///< Fingerprint::tests of that check
  std::vector<std::string> passes;  ///< identities of what passed, see identify(); the latest last
  int points = 0;                   ///< at the last check, as are judged, cases and failing
  int best = 0;                     ///< the most points of any check
  std::string checked;              ///< when, as "2026-11-23T09:30:00Z"; empty: never
  Fingerprint judged;
  int cases = 0;                     ///< how many were run; 0: the file did not compile
  std::vector<std::string> failing;  ///< names of those that failed, in their order
  int hints = 0;                     ///< how many were shown
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

/// @brief Remembers a verdict on the student's own file. A pass stays one until the tests change.
/// @param judged the fingerprint from before the kernel was compiled, so that an edit meanwhile shows
/// @param identity see identify(); empty: it is not known
void record_check(Progress& progress, const grading::LessonReport& report, const Fingerprint& judged,
                  const std::string& identity = "");

/// @brief A name for all that a verdict comes from: the bytes of the compiled kernel, of the test program and
/// of what runs them. Where it is the same, so is the verdict. Cost: reads them, some 10 MB.
/// @return empty if one cannot be read
std::string identify(const grading::Toolchain& toolchain, const grading::Lesson& lesson,
                     grading::Backend backend, const grading::KernelBuilds& builds);

/// @brief Whether that has passed before.
bool has_passed(const Progress& progress, const grading::Lesson& lesson, const std::string& identity);

/// @brief The report on a file that has passed the same tests before, and what to say with it.
grading::LessonReport passed_before(const grading::Lesson& lesson, const std::filesystem::path& file);
inline constexpr const char* kPassedBefore = "This same file has passed the same tests before: none was run";

/// @brief Says it on stderr; says nothing if it is empty.
void tell_problem(const Terminal& terminal, const std::string& problem);

/// How a lesson stands, by what is remembered and by the files as they are now.
struct Standing {
  LessonProgress record;
  bool begun = false;          ///< it was checked, or the file is not the stub any more
  bool edited_since = false;   ///< the file is not what was checked
  bool tests_changed = false;  ///< it passed, and what it was held against is not the same any more

  /// Whether it passed once, held against the tests as they are.
  bool passed() const { return record.passed && !tests_changed; }
  /// The points that count: those of a pass stay.
  int points() const { return passed() ? record.best : record.points; }
};

Standing standing_of(const grading::Lesson& lesson, const Progress& progress);

/// @brief The lesson that the student is at: the first that has not passed and was edited or checked, else
/// the first that has not passed; nullptr if all have.
const grading::Lesson* lesson_at(const std::vector<grading::Lesson>& lessons, const Progress& progress);

}  // namespace course::cli
