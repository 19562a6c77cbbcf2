#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grading/base/machine_error.hpp"
#include "grading/calls/argument.hpp"
#include "grading/confinement/confinement.hpp"
#include "grading/facts/outcome.hpp"
#include "grading/sanitizer/sanitizer.hpp"

namespace course::grading {

/// In which order the simulator runs blocks, warps and lanes; a GPU chooses for itself.
enum class Order { forward, reverse, random };

/// Which calls are run in check mode, too.
enum class CheckMode {
  if_small,  ///< those whose arrays have kSmallCallBytes or less together
  always,
  never,
};
inline constexpr std::size_t kSmallCallBytes = std::size_t{256} * 1024;

/// What a single call may change.
struct CallOptions {
  double timeout_seconds = 0;  ///< 0: the session's
  /// Simulator only. A call that check mode does not look at has another one, mostly, in place of forward:
  /// what races may then give other numbers.
  Order order = Order::forward;
  std::uint64_t seed = 0;        ///< for Order::random
  std::uint32_t max_grid_x = 0;  ///< largest grid the simulator accepts; 0: the device's own limit
  /// How much device memory the simulator has, the arrays of the call included; 0: the device's own.
  std::uint64_t max_memory_bytes = 0;
  bool verify_inputs = true;  ///< false: inputs are not checked for changes, which saves copying them back
  CheckMode check = CheckMode::if_small;
  /// How many bytes past a multiple of 256 each array on the device begins, in the order of the arguments
  /// that are arrays; 0 for those that are not named. cudaMalloc() gives 0, a part of a larger array
  /// anything.
  std::vector<std::uint32_t> shifts{};
};

struct SessionConfig {
  std::filesystem::path worker;        ///< course-worker-cpu or course-worker-cuda
  std::filesystem::path kernel;        ///< the library built from the student's file
  std::filesystem::path check_kernel;  ///< the same for check mode; empty: no check mode
  double timeout_seconds = 10;
  double later_timeout_seconds =
      2;                         ///< once a call has timed out: a file that hangs mostly hangs in every case
  int patience = 2;              ///< once so many calls have timed out, the kernel is called no more
  int patience_with_hunger = 4;  ///< the same for calls that were stopped for their memory
  double busy_factor = 1;  ///< a call may take so many times its seconds by the clock, as long as the worker
                           ///< has not had a processor for that long; above 1, the time in which it stands in
                           ///< line for a processor does not count
  std::optional<Confinement> confinement;  ///< for code that nobody trusts
  std::optional<SanitizerRun> sanitizer;   ///< a tool watches the calls: what it finds is all that counts
  bool kernels_only =
      false;  ///< where all arrays lie on the device, the host may not compute: see computed_by_host()
  bool rehearse = false;        ///< no worker: each call returns at once, and its outputs stay as they were
  bool pass_output_on = false;  ///< what the code prints goes to our standard output, too, all of it
  std::function<void(const Outcome&)> on_outcome;  ///< told what each call came to; may be empty
  std::function<int()> case_number;  ///< of the case that runs now, for the names of a tool's logs; empty: 0
};

/// @brief A kernel library and the worker process that runs it. One call at a time; two sessions are
/// independent. The worker is started by the first call, serves many, and is replaced after a crash, a
/// time-out or a leak. Another worker, of the same program, runs check mode. It is killed and reaped with the
/// session, and dies with the thread that started it.
class Session {
 public:
  explicit Session(SessionConfig config);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// @brief Runs an entry, in run mode for its outputs and then in check mode for diagnoses and counters.
  /// Use call(), which checks the arguments at compile time.
  /// `signature` is typeid(function type).name().
  /// @throws MachineError
  Outcome invoke(std::string_view entry, std::string_view signature, const std::vector<Argument>& arguments,
                 const CallOptions& options);

  /// @brief Ends the worker of a session with a sanitizer, so that its log becomes complete. A worker that
  /// had to be killed leaves a note, of which on_outcome is told.
  void finish();

  /// @brief Process id of the worker that runs for outputs, or -1.
  int worker_pid() const;

  const SessionConfig& config() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// @brief The session of this test executable, made from its command line.
/// @throws MachineError if no kernel was named.
Session& default_session();

/// @brief Sets what default_session() will be; ends the one before.
void configure_default_session(SessionConfig config);

/// @brief Ends the default session and its worker.
void end_default_session();

}  // namespace course::grading
