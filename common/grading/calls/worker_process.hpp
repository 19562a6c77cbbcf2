#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grading/base/descriptor.hpp"
#include "grading/calls/channel.hpp"
#include "grading/calls/channel_listener.hpp"
#include "grading/calls/printed_tail.hpp"
#include "grading/confinement/confinement.hpp"

namespace course::grading {

class ForkServer;

/// @brief A running worker program: its channel, what it prints, and how it ends.
/// It runs in a process group of its own, is killed when the thread that started it ends, and is killed and
/// reaped by the destructor together with everything that it started and left in its group. A confined one is
/// forked by its server, and ends with that.
class WorkerProcess {
 public:
  using Clock = std::chrono::steady_clock;

  /// `pass_output_on`: what it prints goes to our standard output as well. With a confinement it is a fork
  /// server, started as that says; with a launcher, by a program that need not pass descriptors on, whose
  /// command line these words begin. In both cases it has said that it is ready when this returns.
  /// @throws std::runtime_error, in words for the user, if the program cannot be started.
  explicit WorkerProcess(const std::filesystem::path& program, bool pass_output_on = false,
                         const Confinement* confinement = nullptr,
                         const std::vector<std::string>* launcher = nullptr);
  /// A worker that the server forks; the server must outlive it. It is ready when this returns.
  /// @throws std::runtime_error, in words for the user, if it cannot be started.
  explicit WorkerProcess(ForkServer& server, bool pass_output_on = false);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return server_ ? inner_pid_ : pid_; }
  Channel& channel() { return channel_; }
  const Channel& channel() const { return channel_; }
  PrintedTail& printed() { return printed_; }

  /// What happened first.
  enum class Event { message, ended, channel_closed, timeout, too_large };

  /// @brief Waits, and meanwhile takes in what the worker prints. A message that was sent before the end
  /// comes first. too_large: a confined worker holds more memory than it may.
  Event wait(Clock::time_point deadline);

  /// @brief What a thread has had of the processors, and how long it stood in line for one, in seconds since
  /// it began.
  struct ThreadTime {
    double used = 0, queued = 0;
  };

  /// @brief The time of each thread of the worker, by its number; empty if nobody knows. Nobody stands in
  /// line on a kernel that does not count it. Cost: a small file for each thread.
  std::map<pid_t, ThreadTime> thread_times() const;

  /// @brief Takes in what was printed so far, without waiting.
  void collect_output();

  /// @brief Closes the channel and waits for the worker to end by itself, and with it what it was started
  /// through; kills both at the deadline. False: they were killed.
  bool finish(Clock::time_point deadline);

  /// @brief Kills the worker and its group, and reaps it.
  /// Returns the status of waitpid: that of the kill, or of an end that came before it. Of a confined worker,
  /// the signal that ended it is the signal, as if no launcher stood between.
  int stop();

  /// @brief True if it has ended; does not wait.
  bool ended();

 private:
  Descriptor open_output();
  int end_fd() const;
  bool ends_soon();
  void let_in(ChannelListener& listener);
  void greet();
  [[noreturn]] void give_up_start(const std::string& problem);
  void kill_all();
  bool holds_too_much() const;

  bool pass_output_on_;
  std::uint64_t memory_bytes_ = 0;  // 0: no limit
  bool confined_ = false;
  ForkServer* server_ = nullptr;
  pid_t pid_ = -1;
  bool reaped_ = false;
  int status_ = 0;
  Channel channel_;
  Descriptor output_;     // read end of its standard output and error
  Descriptor process_;    // pidfd: readable once it has ended
  std::string starter_;   // what stands before a worker, in words; empty: nothing
  pid_t inner_pid_ = -1;  // of a worker with something before it, or a forked one
  Descriptor inner_;      // pidfd
  PrintedTail printed_;
};

}  // namespace course::grading
