#include "grading/calls/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "grading/base/machine_error.hpp"
#include "grading/calls/fork_server.hpp"
#include "grading/calls/protocol.hpp"
#include "grading/calls/shared_memory.hpp"

namespace course::grading {
namespace {

/// What a lingering thread may print between two calls is not worth more of our time.
constexpr int kMaxChunksAtOnce = 64;

constexpr const char* kSandbox = "The sandbox for a submission";

constexpr auto kLongestStart = std::chrono::seconds(30);   // of a confined worker, on a busy machine
constexpr auto kLongestLaunch = std::chrono::seconds(90);  // of one behind a tool that takes it apart first

/// Runs between fork and exec, where only async-signal-safe functions are legal. Returns only if it fails.
/// `channel` is -1 for a worker that connects by itself.
///
/// A sandbox ends with its parent by itself, once it stands. It must not be killed earlier: bubblewrap's
/// inner process waits for a word of the outer one, and would wait for it for ever. If we end before the
/// sandbox stands, the worker in it finds its channel closed, and ends.
void become_worker(char* const* command, pid_t parent, int channel, int output, bool confined) {
  setpgid(0, 0);
  if (!confined) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return;  // the parent ended before the line above
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);

  // Above the numbers they are going to have, so that no dup2 closes one that is still needed.
  const int channel_copy = channel < 0 ? -1 : fcntl(channel, F_DUPFD, kWorkerChannel + 1);
  const int output_copy = fcntl(output, F_DUPFD, kWorkerChannel + 1);
  const int input = open("/dev/null", O_RDONLY);
  if ((channel >= 0 && channel_copy < 0) || output_copy < 0 || input < 0) return;
  if (input != 0 && dup2(input, 0) < 0) return;
  if (dup2(output_copy, 1) < 0 || dup2(output_copy, 2) < 0) return;
  if (channel >= 0 && dup2(channel_copy, kWorkerChannel) < 0) return;
  const int kept = channel < 0 ? kWorkerChannel : kWorkerChannel + 1;
  syscall(SYS_close_range, kept, ~0U, 0);  // nothing of the grader's reaches the student's code
  execvp(command[0], command);
}

int open_process(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

/// The status of waitpid that a confined worker's exit status stands for: its launcher, or its own handler,
/// turns a signal into 128 and its number.
int as_signal(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) > 128 ? WEXITSTATUS(status) - 128 : status;
}

/// A linker makes a program executable when it has written all of it: one that a build makes anew at this
/// moment is so soon.
/// @throws std::runtime_error
void require_executable(const std::string& path) {
  constexpr int kLongest = 20, kNewSeconds = 60;
  struct stat file {};
  for (int seconds = 0; access(path.c_str(), X_OK) != 0; ++seconds) {
    const int problem = errno;
    const bool is_new = stat(path.c_str(), &file) == 0 && time(nullptr) - file.st_mtime < kNewSeconds;
    if (problem != EACCES || !is_new || seconds == kLongest)
      throw std::runtime_error(
          fmt::format("cannot run the worker program {}: {}", path, std::strerror(problem)));
    sleep(1);
  }
}

void close_on_exec(int fd) { fcntl(fd, F_SETFD, FD_CLOEXEC); }

/// Of a thread, whose folder in /proc this is.
std::optional<WorkerProcess::ThreadTime> time_of(const std::filesystem::path& task) {
  constexpr double kNanoseconds = 1e9;
  double used = 0, queued = 0;
  if (std::ifstream file(task / "schedstat"); file >> used >> queued)
    return WorkerProcess::ThreadTime{used / kNanoseconds, queued / kNanoseconds};
  static const auto ticks_a_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  std::ifstream file(task / "stat");
  std::string text, skipped;
  std::getline(file, text);
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));  // after the name
  constexpr int kBeforeTimes = 11;
  for (int i = 0; i < kBeforeTimes; ++i) fields >> skipped;
  double user = 0, system = 0;
  if (!(fields >> user >> system)) return std::nullopt;
  return WorkerProcess::ThreadTime{(user + system) / ticks_a_second, 0};
}

}  // namespace

WorkerProcess::WorkerProcess(const std::filesystem::path& program, bool pass_output_on,
                             const Confinement* confinement, const std::vector<std::string>* launcher)
    : pass_output_on_(pass_output_on), confined_(confinement != nullptr) {
  const std::string path = program.string();
  require_executable(path);

  std::vector<std::string> words;
  if (confinement) {
    words = confinement->launcher;
    memory_bytes_ = confinement->memory_bytes;
    starter_ = kSandbox;
  }
  std::optional<ChannelListener> listener;
  if (launcher) {
    words = *launcher;
    starter_ = std::filesystem::path(launcher->front()).filename().string();
    listener.emplace();
  }
  words.push_back(path);
  if (confinement) words.push_back(kConfinedOption);
  if (launcher) words.insert(words.end(), {kChannelOption, listener->name()});
  std::vector<char*> command;
  for (std::string& word : words) command.push_back(word.data());
  command.push_back(nullptr);

  auto [ours, theirs] = Channel::create();
  if (confinement) ours.ask_who_sends();
  const Descriptor write_end = open_output();
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (pid_ == 0) {
    become_worker(command.data(), parent, launcher ? -1 : theirs.fd(), write_end.get(), confined_);
    _exit(127);
  }
  setpgid(pid_, pid_);  // here too: whoever comes first
  process_ = Descriptor(open_process(pid_));
  if (process_) close_on_exec(process_.get());
  channel_ = std::move(ours);
  theirs.close();
  if (launcher) let_in(*listener);
  if (confinement || launcher) greet();
}

WorkerProcess::WorkerProcess(ForkServer& server, bool pass_output_on)
    : pass_output_on_(pass_output_on),
      memory_bytes_(server.memory_bytes()),
      confined_(true),
      server_(&server),
      starter_(kSandbox) {
  auto [ours, theirs] = Channel::create();
  ours.ask_who_sends();
  server.fork_worker(theirs, open_output());
  channel_ = std::move(ours);
  theirs.close();
  greet();
}

/// Makes the pipe for what the worker prints, and returns its end.
Descriptor WorkerProcess::open_output() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  output_ = Descriptor(ends[0]);
  fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  return Descriptor(ends[1]);
}

/// Readable once it has ended; -1 where nothing is (Linux before 5.3, which has no pidfds).
int WorkerProcess::end_fd() const { return server_ ? server_->fd() : process_.get(); }

/// @throws MachineError
void WorkerProcess::give_up_start(const std::string& problem) {
  stop();
  const std::string why = problem.empty() ? printed_.lines() : problem;
  throw MachineError(fmt::format("{} could not be started: {}", starter_,
                                 why.empty() ? "it ended before the worker was there." : why));
}

/// Waits for the worker that a launcher starts.
void WorkerProcess::let_in(ChannelListener& listener) {
  channel_.close();
  for (const Clock::time_point deadline = Clock::now() + kLongestLaunch;;) {
    std::array<pollfd, 3> events{pollfd{listener.fd(), POLLIN, 0}, pollfd{output_.get(), POLLIN, 0},
                                 pollfd{process_.get(), POLLIN, 0}};
    poll(events.data(), events.size(), process_ ? 1000 : 20);
    collect_output();
    if (auto guest = listener.accept()) {
      channel_ = std::move(guest->channel);
      inner_pid_ = guest->pid;
      inner_ = Descriptor(open_process(inner_pid_));
      if (inner_) close_on_exec(inner_.get());
      return;
    }
    if (ended()) give_up_start("");
    if (Clock::now() >= deadline)
      give_up_start(fmt::format("the worker was not there after {} s.", kLongestLaunch.count()));
  }
}

void WorkerProcess::greet() try {
  std::string problem;
  const auto longest = confined_ ? kLongestStart : kLongestLaunch;
  switch (wait(Clock::now() + longest)) {
    case Event::message:
      if (const auto greeting = channel_.receive_greeting()) {
        const ReplyMessage reply = decode_reply(greeting->text);
        if (reply.unusable) throw MachineError(reply.outcome.message);
        if (!confined_) return;  // who connected is known
        inner_pid_ = greeting->sender;
        inner_ = Descriptor(open_process(inner_pid_));
        if (inner_) close_on_exec(inner_.get());
        return;
      }
      break;
    case Event::timeout:
      problem = fmt::format("it was not ready after {} s", longest.count());
      break;
    default:
      break;
  }
  give_up_start(problem);
} catch (const std::exception&) {
  stop();
  throw;
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
    std::array<pollfd, 3> events{pollfd{channel_.fd(), POLLIN, 0}, pollfd{output_.get(), POLLIN, 0},
                                 pollfd{end_fd(), POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int longest = memory_bytes_ > 0 || end_fd() < 0 ? 20 : 1000;
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
    if (holds_too_much()) return Event::too_large;
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
  if (server_ && !reaped_) {
    if (const auto status = server_->take_status()) {
      reaped_ = true;
      status_ = as_signal(*status);
    }
  } else if (!reaped_) {
    // The group outlives its leader only as long as the leader is not reaped: look first, kill the rest, then
    // reap.
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid_) {
      kill(-pid_, SIGKILL);
      reaped_ = waitpid(pid_, &status_, 0) == pid_;
      if (confined_) status_ = as_signal(status_);
    }
  }
  return reaped_;
}

/// Of a worker behind a launcher, the worker first: the launcher ends when all that was in its namespaces
/// has.
void WorkerProcess::kill_all() {
  if (inner_ && inner_pid_ != pid_) {
    syscall(SYS_pidfd_send_signal, inner_.get(), SIGKILL, nullptr, 0);
    const Clock::time_point deadline = Clock::now() + std::chrono::seconds(5);
    while (!ended() && Clock::now() < deadline) {
      pollfd event{process_.get(), POLLIN, 0};
      poll(&event, 1, process_ ? 100 : 1);
    }
    if (reaped_) return;
  }
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);  // should it have left its group
}

bool WorkerProcess::holds_too_much() const {
  if (memory_bytes_ == 0 || inner_pid_ < 0) return false;
  std::ifstream statistics(fmt::format("/proc/{}/statm", inner_pid_));
  std::uint64_t whole = 0, resident = 0;  // in pages
  return (statistics >> whole >> resident) && resident * whole_pages(1) > memory_bytes_;
}

std::map<pid_t, WorkerProcess::ThreadTime> WorkerProcess::thread_times() const {
  std::map<pid_t, ThreadTime> times;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", inner_pid_ > 0 ? inner_pid_ : pid_);
  std::error_code gone;
  for (auto task = std::filesystem::directory_iterator(tasks, gone); !gone && task != end(task);
       task.increment(gone))
    if (const auto time = time_of(task->path())) times[std::stoi(task->path().filename())] = *time;
  return times;
}

bool WorkerProcess::finish(Clock::time_point deadline) {
  channel_.close();
  while (!ended() && Clock::now() < deadline) {
    std::array<pollfd, 2> events{pollfd{process_.get(), POLLIN, 0}, pollfd{output_.get(), POLLIN, 0}};
    poll(events.data(), output_ ? events.size() : 1, process_ ? 100 : 5);
    collect_output();
  }
  const bool by_itself = ended();
  stop();
  return by_itself;
}

int WorkerProcess::stop() {
  if (!ended() && server_) {
    status_ = as_signal(server_->kill_worker());
    reaped_ = true;
  } else if (!reaped_) {
    kill_all();
    while (!reaped_ && waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    if (!reaped_ && confined_) status_ = as_signal(status_);
    reaped_ = true;
  }
  collect_output();
  channel_.close();
  return status_;
}

}  // namespace course::grading
