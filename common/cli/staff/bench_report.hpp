#pragma once
/// @file
/// What `course bench` says: tables for people, one JSON object for programs.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "grading/build/bench_results.hpp"
#include "grading/project/lesson.hpp"

namespace course::cli {

enum class BenchStatus {
  timed,
  failed,  ///< its tests fail or it does not compile, so it was not timed
  error,   ///< the benchmark did not come to its end
};

/// One lesson's kernel on the GPU.
struct LessonBench {
  grading::Lesson lesson;
  std::string kernel;  ///< "solution", or the name of its file without folders
  BenchStatus status = BenchStatus::error;
  std::string reason{};  ///< a sentence, unless it was timed; names no folder
  std::string advice{};  ///< what to run to see more, for people alone
  grading::BenchmarkResults results{};
  std::optional<grading::GpuReading> before{}, after{};  ///< its benchmark
};

/// What was found out before any kernel was timed; rates of 0 if there was none to time.
struct BenchCeilings {
  nlohmann::ordered_json machine;  ///< as the program of the ceilings gave it
  grading::Ceilings rates;
  std::vector<grading::Measurement> measurements;
};

/// @brief A time of four digits: "0.5045 ms", "29.88 ms", "1.234 s".
std::string duration_text(double milliseconds);

/// @brief The machine, its ceilings, and what the tables below compare with them. At most terminal.width()
/// columns, as all that follows.
std::string render_ceilings(const Terminal& terminal, const BenchCeilings& ceilings);

/// @brief The table of one lesson: shape, time, rate, floor and the floor's share of the time; then what was
/// left out, clocks, and what went wrong.
std::string render_bench(const Terminal& terminal, const LessonBench& bench, const BenchCeilings& ceilings);

/// @brief Everything, for --json. `command`: the command line that gives it again.
nlohmann::ordered_json bench_json(const std::string& command, const BenchCeilings& ceilings,
                                  const std::vector<LessonBench>& lessons);

/// @brief The same as the text of a file; bytes that are not UTF-8 are replaced.
std::string bench_text(const std::string& command, const BenchCeilings& ceilings,
                       const std::vector<LessonBench>& lessons);

}  // namespace course::cli
