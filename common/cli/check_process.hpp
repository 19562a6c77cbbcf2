#pragma once
/// @file
/// A check of one kernel in a process of its own, which tells of its cases as they end and can be ended at
/// any time.
///
/// A process rather than a thread, since a compiler or a test can only be ended together with everything
/// that waits for it, and since what goes wrong in a check, whatever it is, must not take the screen with it.
/// It is forked rather than started as another command, so that it needs no command line, and the tests run
/// as `check` runs them.

#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/kernel_queue.hpp"
#include "grading/base/descriptor.hpp"

namespace course::cli {

struct CheckJob {
  KernelSource kernel;
  grading::CheckOptions options;  ///< where it runs; what it says of single cases is not used
  bool ready = false;             ///< the lesson's tests are built already
  std::string first_case;         ///< name of a case to run before all others; empty: none
  std::vector<std::string>
      passes;  ///< identities of what has passed before and is not run again; see identify()
};

/// @brief The name of the first case that fails, if there was so long to wait for it that it is worth running
/// before the others the next time, although it then runs twice; else empty.
std::string case_to_run_first(const grading::LessonReport& report);

/// What a check tells while it runs.
struct CheckStep {
  std::string words;  ///< "compiling"
};
struct TestsReady {};
struct FirstCase {
  grading::CaseResult result;  ///< of CheckJob::first_case; it is run once more with the others
};
struct CaseDone {
  grading::CaseResult result;
};
struct CheckDone {
  grading::LessonReport report;
  std::string identity;  ///< of what was judged; empty: not known
  bool known = false;    ///< it has passed before, and was not run again
};
struct CheckProblem {
  std::string message;  ///< why the machine did not let the kernel be judged
};
using CheckNews = std::variant<CheckStep, TestsReady, FirstCase, CaseDone, CheckDone, CheckProblem>;

/// A running check. Its process ends with this object, with everything that it started; also if our own
/// process is killed.
class CheckProcess {
 public:
  /// @throws grading::MachineError if no process can be started
  explicit CheckProcess(CheckJob job);
  ~CheckProcess();
  CheckProcess(const CheckProcess&) = delete;
  CheckProcess& operator=(const CheckProcess&) = delete;

  /// @brief Becomes readable when there is news.
  int descriptor() const { return news_.get(); }

  /// @brief What has been told since the last time, without waiting. CheckDone or CheckProblem is the last
  /// of all; there is one also when the process was killed.
  std::vector<CheckNews> read_news();

 private:
  int end();

  CheckJob job_;
  grading::Descriptor news_;
  pid_t pid_ = -1;
  std::string unread_;
  bool over_ = false;
};

}  // namespace course::cli
