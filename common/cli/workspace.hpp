#pragma once
/// @file
/// What every command starts from: the project, its build folder, the lessons, and where kernels can run.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "grading/build/kernel_build.hpp"
#include "grading/judging/lesson_check.hpp"

namespace course::cli {

/// The exit statuses of `course`.
enum ExitStatus : int {
  kAllPassed = 0,
  kSomethingFailed = 1,
  kWrongUsage = 2,
  kMachineLacks = 3,
};

/// Wrong usage; the message says what was wrong and what is right.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @brief Finds out before the work is done whether its result can be written. An empty name and "-" can.
/// @throws UsageError that names the option
void require_writable(const std::string& option, const std::string& file);

/// @brief Writes a whole file or nothing; "-" is standard output, and an empty name is nowhere.
/// @throws grading::MachineError
void write_result(const std::string& file, const std::string& content);

/// @brief Finds out whether that is a place to trace: launch,x,y,z or launch,x,y,z,warp.
/// @throws UsageError that names the option
void require_trace_place(const std::string& option, const std::string& place);

class Workspace {
 public:
  /// Variable of the environment that names a build folder in which all is up to date. `course test` sets it,
  /// so that its tests do not look again, a thousand times.
  static constexpr const char* kMadeVariable = "COURSE_MADE";

  /// @brief Opens the build folder that holds the running program.
  /// @throws std::runtime_error
  explicit Workspace(const Terminal& terminal);

  /// @throws grading::UnknownLesson
  std::vector<grading::Lesson> select(const std::vector<std::string>& selectors) const;

  /// @brief The one lesson that has this name.
  /// @throws UsageError that names the command if there are several; grading::UnknownLesson
  grading::Lesson select_one(const std::string& command, const std::string& selector) const;
  const std::vector<grading::Lesson>& lessons() const { return lessons_; }
  const grading::Toolchain& toolchain() const { return toolchain_; }

  /// @brief Builds what the lessons' tests need, and nothing else; shows a bar while it does.
  /// @throws grading::MachineError if the course itself cannot be built
  void make_ready(const std::vector<grading::Lesson>& lessons);

  /// @brief As make_ready(), and what packages of these kernels have beside them.
  /// @throws grading::MachineError
  void make_export_ready(const std::vector<grading::Lesson>& lessons);

  /// @brief Builds what a standalone program needs.
  /// @throws grading::MachineError
  void make_simulator_ready();

  /// @brief Builds what the site is made with.
  /// @throws grading::MachineError
  void make_site_ready();

  /// @brief Builds everything.
  /// @throws grading::MachineError
  void make_all();

  /// @brief Where kernels run for "auto", "cpu" or "gpu". "auto" takes a GPU if one answers, else the
  /// simulator.
  /// @throws grading::MachineError that says what to install
  grading::CheckOptions choose_backend(const std::string& wanted) const;

 private:
  std::vector<std::string> targets_of(const std::vector<grading::Lesson>& lessons) const;
  void run_ninja(const std::vector<std::string>& targets);

  const Terminal& terminal_;
  grading::Toolchain toolchain_;
  std::vector<grading::Lesson> lessons_;
};

}  // namespace course::cli
