#pragma once
/// @file
/// The run over a whole class: what is left to judge, by how many at a time, and results as they come.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "classroom/class_parts.hpp"
#include "classroom/marking.hpp"
#include "classroom/submission_judge.hpp"
#include "classroom/submissions.hpp"

namespace course::classroom {

struct GradeProgress {
  std::size_t done = 0, total = 0;  ///< files that had to be judged in this run
  std::size_t ungraded = 0;         ///< of those done
  double seconds_left = 0;          ///< an estimate; 0 before there is one
  std::string last;                 ///< "ada 04", judged last
};

struct GradeOrder {
  std::vector<grading::Lesson> lessons;  ///< that count
  std::vector<Student> students;
  MarkingPolicy policy;
  unsigned jobs = 1;
  std::function<bool(const Student&, const grading::Lesson&)>
      again;  ///< judge it although there is a verdict
  std::function<void(const GradeProgress&)> on_progress;
  std::function<void(StudentMarks&)> on_student;  ///< all files of the student have been judged; in order
  Part part{};                                    ///< for judge_part()
  /// If it is there, it waits for the verdict of another run, which keeps it in the same store. `file` is the
  /// number that Part goes by.
  std::function<FileVerdict(std::size_t file, const grading::Lesson&, const std::string& content)>
      elsewhere{};
};

/// @brief Judges every file of every student that there is no verdict of yet; files with the same bytes for
/// the same lesson are judged once. Verdicts are kept as they come; one that this machine is to blame for is
/// not kept.
/// @return the marks, in the order of the students
/// @throws grading::Interrupted, grading::MachineError, std::system_error
std::vector<StudentMarks> grade_class(SubmissionJudge& judge, const VerdictStore& store,
                                      const GradeOrder& order);

/// @brief Judges the files of one part. Verdicts are kept as grade_class() keeps them.
/// @return VerdictStore::name_of() the files that this machine could not judge, and why
/// @throws as grade_class()
std::map<std::string, std::string> judge_part(SubmissionJudge& judge, const VerdictStore& store,
                                              const GradeOrder& order);

/// @brief How many files grade_class() would have to judge.
std::size_t count_unjudged(SubmissionJudge& judge, const VerdictStore& store, const GradeOrder& order);

/// @brief Judges the worked solutions, as if somebody had handed them in: what does not pass with them is no
/// fault of a student. `order` says how; its students do not count. Lessons without a solution here are
/// passed over.
/// @return by lesson number, the cases whose hidden twin no solution passes
/// @throws grading::MachineError if a solution fails in an open case, and as grade_class()
std::map<int, std::set<std::string>> judge_solutions(SubmissionJudge& judge, const VerdictStore& store,
                                                     const GradeOrder& order);

}  // namespace course::classroom
