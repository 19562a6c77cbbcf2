#pragma once

#include "grading/calls/channel.hpp"

namespace course::grading {

/// @brief Makes this process a fork server: see grading/calls/fork_server.hpp. Returns in each worker that it
/// forks, with true; `channel`, by which the requests came, is the worker's own there. Returns false once the
/// grader has closed the channel; no worker is left then. There must be one thread.
/// @throws std::system_error if the system has no room for a process
/// @throws std::runtime_error if a worker left a process behind
bool fork_on_request(Channel& channel);

}  // namespace course::grading
