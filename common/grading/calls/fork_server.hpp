#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "grading/base/descriptor.hpp"
#include "grading/calls/channel.hpp"
#include "grading/calls/worker_process.hpp"
#include "grading/confinement/confinement.hpp"

namespace course::grading {

/// @brief A worker program in its sandbox that loads nothing itself: it forks a worker for each request. So a
/// call of code that nobody trusts gets a process of its own, and the sandbox, which takes longer than most
/// calls, is made once. One worker at a time. The server ends with the thread that started it, and its worker
/// with it.
class ForkServer {
 public:
  /// @throws std::runtime_error, in words for the user, if it cannot be started.
  ForkServer(const std::filesystem::path& program, const Confinement& confinement);

  /// @brief Asks for a worker with that channel, which prints to that descriptor.
  void fork_worker(const Channel& channel, const Descriptor& output);

  /// @brief The status of waitpid of the worker, if it has ended; does not wait. A worker whose server ended
  /// was killed with it.
  std::optional<int> take_status();

  /// @brief Kills the worker, waits for its end and returns the status of waitpid: that of the kill, or of an
  /// end that came before it.
  int kill_worker();

  /// @brief Ends the server, and with it its worker.
  void end() { server_.stop(); }

  /// Readable once the worker has ended.
  int fd() const { return server_.channel().fd(); }
  std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// False: it has ended, and can fork no more.
  bool works() { return !server_.ended(); }

 private:
  WorkerProcess server_;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace course::grading
