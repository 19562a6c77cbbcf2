#include "grading/base/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>

#include "grading/base/descriptor.hpp"

namespace course::grading {
namespace {

// Process groups to end when a signal arrives. Plain atomics, because the handler reads them.
std::array<std::atomic<pid_t>, 64> running_groups{};
std::atomic<int> caught_signal{0};

// SIGTERM first: ninja runs compilers in process groups of their own, and ends them when it is asked to end.
constexpr auto kTimeToEnd = std::chrono::seconds(2);

void on_signal(int number) {
  const bool again = caught_signal.exchange(number) != 0;
  for (auto& slot : running_groups) {
    const pid_t group = slot.load();
    if (group > 0) kill(-group, again ? SIGKILL : SIGTERM);
  }
  if (again) _exit(128 + number);  // a second Ctrl-C does not wait for clean-up
}

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

/// A started child. Its process group is known to the signal handler until the child has been collected.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid), ended_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {
    for (auto& slot : running_groups) {
      pid_t expected = 0;
      if (slot.compare_exchange_strong(expected, pid)) {
        slot_ = &slot;
        break;
      }
    }
    if (caught_signal.load() != 0) ask_to_end();  // the signal came between the start and this line
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { collect(); }

  /// Becomes readable when the child ends; -1 on kernels before 5.3.
  int ended_descriptor() const { return ended_.get(); }
  void ask_to_end() const { kill(-pid_, SIGTERM); }
  void kill_group() const { kill(-pid_, SIGKILL); }
  bool has_ended() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
  }
  /// Kills what is left of the group while its number cannot have been given away, then collects the child.
  int collect() {
    if (collected_) return status_;
    collected_ = true;
    kill_group();
    if (slot_ != nullptr) slot_->store(0);
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    return status_;
  }

 private:
  pid_t pid_;
  Descriptor ended_;
  std::atomic<pid_t>* slot_ = nullptr;
  bool collected_ = false;
  int status_ = 0;
};

/// Our environment with the command's additions, which win over variables of the same name.
std::vector<char*> environment_of(const Command& command) {
  std::vector<char*> variables;
  for (const std::string& variable : command.environment)
    variables.push_back(const_cast<char*>(variable.c_str()));
  const std::size_t added = variables.size();
  for (char** ours = environ; *ours != nullptr; ++ours) {
    const std::string_view name = std::string_view(*ours).substr(0, std::string_view(*ours).find('='));
    const bool replaced = std::any_of(
        variables.begin(), variables.begin() + static_cast<std::ptrdiff_t>(added), [&](const char* variable) {
          return std::string_view(variable).starts_with(std::string(name) + "=");
        });
    if (!replaced) variables.push_back(*ours);
  }
  variables.push_back(nullptr);
  return variables;
}

pid_t spawn(const Command& command, int output_fd) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (output_fd >= 0) {
    posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output_fd, STDERR_FILENO);
  }
  if (!command.directory.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());
  }
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&defaults, number);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);

  std::vector<char*> argv;
  for (const auto& argument : command.arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const std::vector<char*> environment = environment_of(command);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) fail(error, "cannot start " + command.arguments.at(0));
  return child;
}

/// Collects output, and hands it on line by line.
class OutputCollector {
 public:
  OutputCollector(const Command& command, CommandResult& result) : command_(command), result_(result) {}

  void add(const char* bytes, std::size_t count) {
    const std::size_t room = command_.output_limit - std::min(command_.output_limit, result_.output.size());
    result_.output.append(bytes, std::min(room, count));
    if (!command_.on_line) return;
    line_.append(bytes, count);
    std::size_t begin = 0;
    for (std::size_t end; (end = line_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      command_.on_line(line_.substr(begin, end - begin));
    }
    line_.erase(0, begin);
  }

 private:
  const Command& command_;
  CommandResult& result_;
  std::string line_;
};

}  // namespace

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

void throw_if_interrupted() {
  if (const int number = caught_signal.load(); number != 0) throw Interrupted(number);
}

CommandResult run_command(const Command& command) {
  throw_if_interrupted();
  std::array<int, 2> ends{-1, -1};
  if (!command.inherit_output && pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno, "cannot make a pipe");
  Descriptor reader(ends[0]), writer(ends[1]);
  Child child(spawn(command, writer.get()));
  writer.close();

  CommandResult result;
  OutputCollector collector(command, result);
  std::array<char, 16384> buffer;
  const auto read_some = [&] {
    const ssize_t count = read(reader.get(), buffer.data(), buffer.size());
    if (count > 0) collector.add(buffer.data(), static_cast<std::size_t>(count));
    return count > 0;
  };
  const auto deadline = std::chrono::steady_clock::now() + command.timeout;
  std::optional<std::chrono::steady_clock::time_point> asked_to_end;
  // Waits for the child rather than for the end of its output: what it left behind may hold the pipe open for
  // ever.
  while (!child.has_ended()) {
    std::array<pollfd, 2> waiting{{{reader.get(), POLLIN, 0}, {child.ended_descriptor(), POLLIN, 0}}};
    poll(waiting.data(), waiting.size(), 50);
    if (waiting[0].revents != 0 && !read_some()) reader.close();
    if (command.on_tick) command.on_tick();
    if (!result.stopped && command.enough && command.enough()) {
      result.stopped = true;
      child.kill_group();
    }
    const auto now = std::chrono::steady_clock::now();
    if (now > deadline && !result.timed_out) {
      result.timed_out = true;
      child.ask_to_end();
    }
    if (!asked_to_end && (result.timed_out || caught_signal.load() != 0)) asked_to_end = now;
    if (asked_to_end && now - *asked_to_end > kTimeToEnd) child.kill_group();
  }
  if (reader.get() >= 0) {
    fcntl(reader.get(), F_SETFL, O_NONBLOCK);
    while (read_some()) {
    }
  }
  const int status = child.collect();
  throw_if_interrupted();
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

ScratchFolder::ScratchFolder(const std::filesystem::path& parent) {
  std::filesystem::create_directories(parent);
  std::string name = (parent / (".scratch-" + std::to_string(getpid()) + "-XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) fail(errno, "cannot make a folder in " + parent.string());
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file_atomically(const std::filesystem::path& file, std::string_view content) {
  std::string name = file.string() + ".XXXXXX";
  Descriptor temporary(mkostemp(name.data(), O_CLOEXEC));
  if (temporary.get() < 0) fail(errno, "cannot write " + file.string());
  const auto give_up = [&](int error) {
    unlink(name.c_str());
    fail(error, "cannot write " + file.string());
  };
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t count = write(temporary.get(), content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) give_up(errno);
    done += static_cast<std::size_t>(count);
  }
  // mkostemp makes files private; a result file is as readable as any other.
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(temporary.get(), 0666 & ~mask) != 0 || fsync(temporary.get()) != 0) give_up(errno);
  if (rename(name.c_str(), file.c_str()) != 0) give_up(errno);
}

std::string read_file(const std::filesystem::path& file) {
  Descriptor descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.get() < 0) fail(errno, "cannot read " + file.string());
  std::string content;
  std::array<char, 65536> buffer;
  for (ssize_t count; (count = read(descriptor.get(), buffer.data(), buffer.size())) != 0;) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(errno, "cannot read " + file.string());
    content.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return content;
}

}  // namespace course::grading
