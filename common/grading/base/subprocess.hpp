#pragma once
/// @file
/// Running other programs: compilers, ninja, the lessons' test programs. Children get their own process
/// group, so that one signal ends a compiler driver together with what it started.

#include <chrono>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace course::grading {

/// The person pressed Ctrl-C, or the system asked the program to end; every child is dead already.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal_number) : std::runtime_error("interrupted"), signal(signal_number) {}
  int signal;
};

/// @brief Makes SIGINT, SIGTERM and SIGHUP kill every running child; the function that waits for it then
/// throws Interrupted, so that temporary files are cleaned up on the way out. Call once, before any thread is
/// started.
void install_interrupt_handler();

/// @throws Interrupted if a signal has arrived.
void throw_if_interrupted();

struct Command {
  std::vector<std::string> arguments;  ///< arguments[0] is the program: a path, or a name to look up on PATH
  std::filesystem::path directory;     ///< where it runs; empty: here
  std::vector<std::string> environment;  ///< "NAME=value", beside what we have ourselves
  std::chrono::duration<double> timeout = std::chrono::hours(1);
  std::size_t output_limit = 4 << 20;  ///< bytes of output that are kept; what comes after is dropped
  std::function<void(const std::string&)> on_line;  ///< called with each line as it comes
  std::function<void()> on_tick;                    ///< called about 20 times a second while it runs
  std::function<bool()> enough;  ///< asked as often; when it says yes, the program is killed
  bool inherit_output = false;   ///< writes to our own stdout and stderr; nothing is captured
};

struct CommandResult {
  int exit_code = 0;       ///< meaningful if signal is 0
  int signal = 0;          ///< the signal that ended it, or 0
  bool timed_out = false;  ///< it was killed because it ran past the limit
  bool stopped = false;    ///< it was killed because command.enough() said so
  std::string output;      ///< stdout and stderr, in the order they were written
  bool ok() const { return exit_code == 0 && signal == 0 && !timed_out && !stopped; }
};

/// @brief Runs a program to its end, with standard input closed off.
/// @throws std::system_error if it cannot be started (code ENOENT: there is no such program).
/// @throws Interrupted if a signal arrives meanwhile.
CommandResult run_command(const Command& command);

/// @brief A folder of its own for intermediate files, removed with everything in it when this object goes.
class ScratchFolder {
 public:
  /// @throws std::system_error if it cannot be made under `parent`, which is created if need be.
  explicit ScratchFolder(const std::filesystem::path& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// @brief Writes a whole file or nothing: a temporary file beside it takes its place once it is on disk.
/// @throws std::system_error that names the file, e.g. on a full disk; the old content is then untouched.
void write_file_atomically(const std::filesystem::path& file, std::string_view content);

/// @throws std::system_error that names the file.
std::string read_file(const std::filesystem::path& file);

}  // namespace course::grading
