#pragma once

#include <sys/types.h>

#include <memory>

#include "grading/base/descriptor.hpp"
#include "grading/calls/fork_server.hpp"
#include "grading/calls/protocol.hpp"
#include "grading/calls/session.hpp"
#include "grading/calls/worker_process.hpp"

namespace course::grading {

/// A worker for one call after the other. It is started by the first, and replaced when it is damaged.
class Seat {
 public:
  /// Sends the call and waits for its reply, up to the call's launch_seconds and some grace. Whatever else
  /// happens becomes a reply, too. A worker that is not reusable has ended when this returns.
  /// @throws MachineError, std::runtime_error
  ReplyMessage exchange(const SessionConfig& config, const CallMessage& call, const Descriptor& input,
                        const Descriptor& output);

  bool timed_out_before() const { return timeouts_ > 0; }
  /// Counts a call that was stopped for its time elsewhere.
  void count_timeout() { ++timeouts_; }
  /// Whether the last call was not made, because too many before it were stopped for their time or memory.
  bool gave_up() const { return gave_up_; }
  /// Process id of the worker, or -1.
  pid_t pid() const { return worker_ && !worker_->ended() ? worker_->pid() : -1; }
  void end() { worker_.reset(); }
  /// Lets the worker end by itself, as a tool that watches it needs. False: it had to be killed.
  bool finish();

 private:
  /// What a worker answered, or how it ended.
  struct Answer {
    ReplyMessage reply;
    bool began = false;  ///< the entry was called
  };
  void start(const SessionConfig& config, const CallMessage& call);
  Answer ask(WorkerProcess& process, const SessionConfig& config, const CallMessage& call,
             const Descriptor& input, const Descriptor& output);

  std::unique_ptr<ForkServer> server_;  // of confined workers
  std::unique_ptr<WorkerProcess> worker_;
  int timeouts_ = 0, hungry_ = 0;  ///< calls that were stopped
  bool gave_up_ = false;
  int started_ = 0;
};

}  // namespace course::grading
