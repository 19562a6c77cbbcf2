#include "grading/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "grading/protocol.hpp"

namespace course::grading {
namespace {

/// What a lingering thread may print between two calls is not worth more of our time.
constexpr int kMaxChunksAtOnce = 64;

/// Runs between fork and exec, where only async-signal-safe functions are legal. Returns only if it fails.
void become_worker(const char* program, pid_t parent, int channel, int output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return;  // the parent ended before the line above
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);

  // Above the numbers they are going to have, so that no dup2 closes one that is still needed.
  const int channel_copy = fcntl(channel, F_DUPFD, kWorkerChannel + 1);
  const int output_copy = fcntl(output, F_DUPFD, kWorkerChannel + 1);
  const int input = open("/dev/null", O_RDONLY);
  if (channel_copy < 0 || output_copy < 0 || input < 0) return;
  if (input != 0 && dup2(input, 0) < 0) return;
  if (dup2(output_copy, 1) < 0 || dup2(output_copy, 2) < 0 || dup2(channel_copy, kWorkerChannel) < 0) return;
  syscall(SYS_close_range, kWorkerChannel + 1, ~0U, 0);  // nothing of the grader's reaches the student's code
  execl(program, program, static_cast<char*>(nullptr));
}

void close_on_exec(int fd) { fcntl(fd, F_SETFD, FD_CLOEXEC); }

}  // namespace

WorkerProcess::WorkerProcess(const std::filesystem::path& program, bool pass_output_on)
    : pass_output_on_(pass_output_on) {
  const std::string path = program.string();
  if (access(path.c_str(), X_OK) != 0)
    throw std::runtime_error(fmt::format("cannot run the worker program {}: {}", path, std::strerror(errno)));

  auto [ours, theirs] = Channel::create();
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  output_ = Descriptor(pipe_ends[0]);
  const Descriptor write_end(pipe_ends[1]);
  fcntl(output_.get(), F_SETFL, O_NONBLOCK);

  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (pid_ == 0) {
    become_worker(path.c_str(), parent, theirs.fd(), write_end.get());
    _exit(127);
  }
  setpgid(pid_, pid_);  // here too: whoever comes first
  process_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (process_) close_on_exec(process_.get());
  channel_ = std::move(ours);
}

WorkerProcess::~WorkerProcess() { stop(); }

void WorkerProcess::collect_output() {
  std::array<char, std::size_t{16} * 1024> chunk;
  for (int i = 0; i < kMaxChunksAtOnce && output_; ++i) {
    const ssize_t got = read(output_.get(), chunk.data(), chunk.size());
    if (got > 0) {
      printed_.append({chunk.data(), static_cast<std::size_t>(got)});
      if (pass_output_on_) std::fwrite(chunk.data(), 1, static_cast<std::size_t>(got), stdout);
    } else {
      if (got == 0) output_.close();
      if (got == 0 || errno != EINTR) return;
    }
  }
}

WorkerProcess::Event WorkerProcess::wait(Clock::time_point deadline) {
  for (;;) {
    // Without pidfds (Linux before 5.3) the end is noticed by looking now and then.
    std::array<pollfd, 3> events{pollfd{channel_.fd(), POLLIN, 0}, pollfd{output_.get(), POLLIN, 0},
                                 pollfd{process_.get(), POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int longest = process_ ? 1000 : 20;
    poll(events.data(), events.size(), static_cast<int>(std::clamp<long long>(left, 0, longest)));
    if (events[1].revents != 0) collect_output();
    if (events[0].revents & POLLIN) {
      char probe = 0;
      if (recv(channel_.fd(), &probe, 1, MSG_PEEK | MSG_DONTWAIT) > 0) return Event::message;
    }
    if (ended()) return Event::ended;
    if (events[0].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL))
      return ends_soon() ? Event::ended : Event::channel_closed;
    if (Clock::now() >= deadline) return Event::timeout;
  }
}

/// A process that ends closes its descriptors first.
bool WorkerProcess::ends_soon() {
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(1);
  while (!ended() && Clock::now() < deadline) {
    collect_output();
    usleep(1000);
  }
  return ended();
}

bool WorkerProcess::ended() {
  if (!reaped_) {
    // The group outlives its leader only as long as the leader is not reaped: look first, kill the rest, then
    // reap.
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid_) {
      kill(-pid_, SIGKILL);
      reaped_ = waitpid(pid_, &status_, 0) == pid_;
    }
  }
  return reaped_;
}

int WorkerProcess::stop() {
  if (!ended()) {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);  // should it have left its group
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
  }
  collect_output();
  channel_.close();
  return status_;
}

}  // namespace course::grading
