#pragma once
/// @file
/// Which of a student's files for one lesson counts.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "classroom/submissions.hpp"
#include "grading/project/lesson.hpp"

namespace course::classroom {

/// One file that a lesson may want.
struct Candidate {
  std::string path;           ///< within the student's folder
  std::string problem;        ///< why it cannot be looked at, in a sentence; empty: it can
  std::int64_t modified = 0;  ///< seconds since 1970; 0 if nobody knows
  std::uint64_t version = 0;  ///< from its name
  bool late = false;          ///< the learning platform says so
  bool unreadable = false;    ///< the problem is this machine's
};

/// @brief All files of one student for one lesson, of which one counts.
/// Files with the same content count as one. The newest counts; of those of one second the one with the
/// highest version in its name, then the first by path. A file that is none, such as an empty one, counts
/// only if all are; one that this machine cannot read may be the one. Keeps the content of one file only,
/// however many there are.
class LessonChoice {
 public:
  void add(Candidate candidate, std::string content);

  /// @param deadline seconds since 1970; a file that is newer is late. If the file that counts was handed in
  /// several times, the earliest time holds.
  Submission submission(const grading::Lesson& lesson, std::optional<std::int64_t> deadline) const;

 private:
  struct Entry {
    Candidate candidate;
    std::string digest;  ///< of the content, which nobody can meet with another; empty if there is none
  };
  static bool counts_before(const Entry& a, const Entry& b);
  std::string note(const grading::Lesson& lesson, const std::vector<const Entry*>& same,
                   const std::vector<const Entry*>& others) const;

  std::vector<Entry> entries_;
  std::size_t best_ = 0;
  std::string content_;  ///< of the best
};

/// @brief "2026-11-22 17:30:14" in local time; empty for 0.
std::string format_time(std::int64_t seconds);

/// @brief Seconds since 1970 of "2026-11-22 17:30" or "2026-11-22 17:30:14", local time, or with a T as ISO
/// 8601 has it; nothing for "".
/// @throws std::invalid_argument in a sentence if it is no such time
std::optional<std::int64_t> parse_time(const std::string& text);

}  // namespace course::classroom
