#pragma once
/// @file
/// What `watch` shows, as text.

#include <filesystem>
#include <optional>
#include <string>

#include "cli/terminal.hpp"
#include "grading/judging/lesson_check.hpp"

namespace course::cli {

/// What the screen of `watch` tells.
struct WatchView {
  enum class Stage {
    checking,  ///< `report` has the cases that have ended so far
    judged,    ///< `report` is whole
    problem,   ///< the machine did not let the kernel be judged
    missing,   ///< the file is not there
  };
  Stage stage = Stage::checking;
  grading::LessonReport report;  ///< lesson and source are always there
  std::string step;              ///< while checking: "compiling"
  std::optional<grading::CaseResult>
      first;                            ///< the case that failed last time, if it was run before the others
  std::string problem;                  ///< one sentence or two
  std::size_t failed_case = 0;          ///< which of the failed cases, modulo their number, is shown in full
  bool untouched = false;               ///< the file is the stub as the course gives it
  std::optional<grading::Lesson> next;  ///< nothing: this is the last one
  std::string why;                      ///< what the check answers, "Saved at 12:03:15"
  double seconds = 0;                   ///< from then to the result
  std::string aside;  ///< whole lines below the result: a hint, the list of lessons, what the keys do
  std::string note;   ///< a sentence about what happened last
  bool keys = false;  ///< whether the student can press keys
};

/// @brief The result with what to do next: complete lines, none wider than the terminal.
std::string render_result(const Terminal& terminal, const WatchView& view);

/// @brief A whole screen: the result, what was asked for besides, and the keys. Without a line break at its
/// end.
std::string render_screen(const Terminal& terminal, const WatchView& view);

/// @brief What each key does.
std::string render_keys(const Terminal& terminal);

}  // namespace course::cli
