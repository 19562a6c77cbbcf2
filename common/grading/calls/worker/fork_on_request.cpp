#include "grading/calls/worker/fork_on_request.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <string>

#include "grading/base/descriptor.hpp"
#include "grading/calls/protocol.hpp"

namespace course::grading {
namespace {

/// In a new process: the descriptors of a worker, and no other. The channel takes the place of the server's.
void become_worker(pid_t server, int channel_place, const Channel::Message& request) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server) _exit(0);  // it ended before the line above
  if (dup2(request.descriptors[0].get(), channel_place) < 0) fail_by_errno("a worker has no channel");
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    if (dup2(request.descriptors[1].get(), output) < 0) fail_by_errno("a worker has nothing to print to");
}

/// The status of waitpid. Whatever the grader says meanwhile, or its end, kills the worker.
int wait_for(pid_t worker, const Channel& requests) {
  const Descriptor end(static_cast<int>(syscall(SYS_pidfd_open, worker, 0)));  // none before Linux 5.3
  constexpr int kLookAgain = 2;                                                // ms
  int status = 0;
  for (;;) {
    std::array<pollfd, 2> events{pollfd{requests.fd(), POLLIN, 0}, pollfd{end.get(), POLLIN, 0}};
    poll(events.data(), events.size(), end ? -1 : kLookAgain);
    if (events[0].revents != 0) kill(worker, SIGKILL);
    const pid_t ended = waitpid(worker, &status, events[0].revents != 0 ? 0 : WNOHANG);
    if (ended == worker) return status;
    if (ended < 0 && errno != EINTR) fail_by_errno("a worker is lost");
  }
}

/// A worker starts no process: its filter forbids it. Should one be there all the same, the sandbox ends.
void require_no_process() {
  pid_t other = 0;
  while ((other = waitpid(-1, nullptr, WNOHANG)) > 0) {
  }
  if (other == 0) throw std::runtime_error("a worker left a process behind");
}

}  // namespace

bool fork_on_request(Channel& channel) {
  const pid_t server = getpid();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  while (auto request = channel.receive(true)) {
    if (request->descriptors.size() != 2) continue;  // the kill of a worker that had ended
    const pid_t worker = fork();
    if (worker < 0) fail_by_errno("cannot start a process");
    if (worker == 0) {
      become_worker(server, channel.fd(), *request);
      return true;
    }
    request->descriptors.clear();
    const int status = wait_for(worker, channel);
    require_no_process();
    channel.send(std::to_string(status));
  }
  return false;
}

}  // namespace course::grading
