#pragma once
/// @file
/// One kernel against one lesson's tests: build, run, collect.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grading/base/subprocess.hpp"
#include "grading/build/kernel_build.hpp"
#include "grading/facts/cause.hpp"
#include "grading/facts/results.hpp"

namespace course::grading {

enum class Verdict {
  pass,
  fail,
  error,  ///< nothing could be judged: the kernel does not compile, or the test program itself broke
};

/// "pass", "fail" or "error", as in the JSON report.
const char* verdict_name(Verdict verdict);

struct LessonReport {
  Lesson lesson;
  std::filesystem::path source;
  Verdict verdict = Verdict::error;
  std::string error;  ///< for Verdict::error: why
  bool compiled = false;
  bool too_long = false;    ///< the cases were ended by CheckOptions::longest
  std::string not_checked;  ///< why check mode was left out, in one sentence; empty: it was not, or is not
                            ///< for this backend
  std::vector<std::string> tools;  ///< of compute-sanitizer, under which the tests ran once more
  std::vector<CaseResult> cases;
  std::optional<Cause> cause;  ///< of the wrong results, chosen over all cases
  int points = 0;              ///< sum over the cases that passed
  double seconds = 0.0;
};

/// A kernel compiled for its outputs and, in the simulator, once more for check mode.
struct KernelBuilds {
  BuildOutcome run;
  std::optional<BuildOutcome> check;
  std::string check_problem;  ///< the machine's reason why there is no `check`

  /// @brief What the compiler says, of either mode; empty if the file compiles for all that was asked.
  /// A file for which check mode cannot look would choose what is seen of it.
  std::string why_not_compiled() const;
};

/// Where and how kernels are built and run.
struct CheckOptions {
  Backend backend = Backend::cpu;
  std::vector<std::string> architectures;  ///< GPU only; see build_kernel()
  std::function<void(int done)> on_case;   ///< cases finished so far, a few times a second
  std::vector<std::string> only_cases;     ///< the names of the cases to run; empty: all
  std::uint64_t seed = 0;                  ///< of the data; 0 is what everybody has
  std::chrono::duration<double> longest =
      std::chrono::minutes(30);       ///< for all cases; each call has its own limit
  std::filesystem::path scratch;      ///< folder for what is made on the way; empty: in the build folder
  std::filesystem::path confinement;  ///< file that says how workers are confined; empty: they are not
  /// Whether the cases finished so far are enough to know; the others are then left out.
  std::function<bool(const std::vector<CaseResult>&)> enough;
};

/// @brief Runs the lesson's tests on a kernel that build_kernel() has dealt with: for outputs, and in check
/// mode if it was built for that. A kernel that crashes, hangs or ends its process costs cases, never the
/// run.
/// @throws MachineError, Interrupted
LessonReport check_kernel(const Toolchain& toolchain, const Lesson& lesson,
                          const std::filesystem::path& source, const KernelBuilds& builds,
                          const CheckOptions& options);

/// @brief The command that runs the tests with the data and the cases that the options ask for, within their
/// time; results go to that file. It refers to the options.
Command tests_command(const Toolchain& toolchain, const Lesson& lesson, const std::filesystem::path& library,
                      const CheckOptions& options, const std::filesystem::path& results_file);

/// @brief How the test program ended when it should not have; empty if it ran to its end.
std::string why_incomplete(const CommandResult& result, const Results& results);

/// @brief Counts the points of the cases, and sets the verdict of a report without an error.
void add_up(LessonReport& report);

/// @brief The command line of the lesson's test program for this kernel, without what is to be done with it.
std::vector<std::string> test_command(const Toolchain& toolchain, const Lesson& lesson,
                                      const std::filesystem::path& library, Backend backend);

}  // namespace course::grading
