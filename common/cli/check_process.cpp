#include "cli/check_process.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "cli/progress.hpp"
#include "cli/workspace.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {
namespace {

using namespace course::grading;
using nlohmann::json;

// --- In the process that checks -------------------------------------------------------------------------

/// Tells the other process, one JSON object a line.
class Teller {
 public:
  explicit Teller(int pipe) : pipe_(pipe) {}

  void tell(const json& news) const {
    const std::string line = news.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    for (std::size_t done = 0; done < line.size();) {
      const ssize_t count = write(pipe_, line.data() + done, line.size() - done);
      if (count < 0 && errno != EINTR) return;  // nobody listens, and the signal to end is on its way
      if (count > 0) done += static_cast<std::size_t>(count);
    }
  }

  void tell_case(const char* kind, const CaseResult& result) const {
    tell({{kind, json::parse(to_json_line(result))}});
  }

 private:
  int pipe_;
};

json report_to_news(const LessonReport& report) {
  json cases = json::array();
  for (const CaseResult& result : report.cases) cases.push_back(json::parse(to_json_line(result)));
  return {{"verdict", verdict_name(report.verdict)},
          {"error", report.error},
          {"compiled", report.compiled},
          {"too_long", report.too_long},
          {"not_checked", report.not_checked},
          {"cases", cases},
          {"points", report.points},
          {"seconds", report.seconds}};
}

void check(const CheckJob& job, const Teller& teller) {
  Terminal terminal(80, false);
  terminal.tell_progress_to([&](std::string_view words, std::size_t done, std::size_t total) {
    teller.tell({{"step", fmt::format("{}, {} of {} steps", words, done, total)}});
  });
  Workspace workspace(terminal);
  if (!job.ready) workspace.make_ready({job.kernel.lesson});
  teller.tell({{"ready", true}});
  teller.tell({{"step", "compiling"}});
  const Toolchain& toolchain = workspace.toolchain();
  const Lesson& lesson = job.kernel.lesson;
  // On a GPU the answer waits for nvcc, mostly while it optimises. A mistake shows without that; only a pass
  // is held against the kernel as `check` compiles it.
  std::vector<KernelSource> kernels{job.kernel};
  if (job.options.backend == Backend::gpu) {
    kernels.insert(kernels.begin(), job.kernel);
    kernels.front().quickly = true;
  }
  KernelQueue queue(toolchain, kernels, job.options);
  const KernelBuilds builds = queue.take(0);
  const bool optimised = kernels.size() == 1;
  const std::string identity =
      optimised && builds.run.ok() ? identify(toolchain, lesson, job.options.backend, builds) : "";
  if (!identity.empty() && std::find(job.passes.begin(), job.passes.end(), identity) != job.passes.end()) {
    teller.tell({{"report", report_to_news(passed_before(job.kernel.lesson, job.kernel.file))},
                 {"identity", identity},
                 {"known", true}});
    return;
  }
  teller.tell({{"step", "running the tests"}});
  CheckOptions options = job.options;
  if (builds.run.ok() && !job.first_case.empty()) {
    options.only_cases = {job.first_case};
    const LessonReport first = check_kernel(toolchain, lesson, job.kernel.file, builds, options);
    if (!first.cases.empty()) teller.tell_case("first", first.cases.front());
    options.only_cases.clear();
  }
  std::size_t told = 0;
  options.enough = [&](const std::vector<CaseResult>& cases) {
    for (; told < cases.size(); ++told) teller.tell_case("case", cases[told]);
    return false;
  };
  LessonReport report = check_kernel(toolchain, lesson, job.kernel.file, builds, options);
  if (report.verdict == Verdict::pass && !optimised) {
    teller.tell({{"step", "passes; compiling once more, optimised"}});
    report = check_kernel(toolchain, lesson, job.kernel.file, queue.take(1), job.options);
  }
  // Told before the queue goes, which waits for the compiler's other run when the first one fails.
  teller.tell({{"report", report_to_news(report)}, {"identity", identity}, {"known", false}});
}

/// Leaves the terminal and the signals of the process that forked us to it alone.
void become_checker(pid_t parent) {
  setpgid(0, 0);
  // From a parent that is killed, the signal comes that ends all that we start; see on_signal there.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  install_interrupt_handler();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (getppid() != parent) _exit(kSomethingFailed);
  const Descriptor nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere.get(), standard);
}

[[noreturn]] void run_checker(const CheckJob& job, int pipe, pid_t parent) {
  const Teller teller(pipe);
  try {
    become_checker(parent);
    check(job, teller);
  } catch (const Interrupted& interrupted) {
    _exit(128 + interrupted.signal);
  } catch (const std::exception& error) {
    teller.tell({{"problem", error.what()}});
  }
  _exit(kAllPassed);  // what the other process has not written yet is for it to write
}

// --- In the process that asks ---------------------------------------------------------------------------

Verdict verdict_of(const std::string& name) {
  return name == "pass" ? Verdict::pass : name == "fail" ? Verdict::fail : Verdict::error;
}

LessonReport report_from_news(const json& news, const KernelSource& kernel) {
  LessonReport report;
  report.lesson = kernel.lesson;
  report.source = kernel.file;
  report.verdict = verdict_of(news.at("verdict"));
  news.at("error").get_to(report.error);
  news.at("compiled").get_to(report.compiled);
  news.at("too_long").get_to(report.too_long);
  news.at("not_checked").get_to(report.not_checked);
  for (const json& result : news.at("cases")) report.cases.push_back(case_from_json(result));
  news.at("points").get_to(report.points);
  news.at("seconds").get_to(report.seconds);
  return report;
}

CheckNews news_of(const std::string& line, const KernelSource& kernel) {
  const json news = json::parse(line);
  if (news.contains("step")) return CheckStep{news["step"]};
  if (news.contains("ready")) return TestsReady{};
  if (news.contains("first")) return FirstCase{case_from_json(news["first"])};
  if (news.contains("case")) return CaseDone{case_from_json(news["case"])};
  if (news.contains("report"))
    return CheckDone{report_from_news(news["report"], kernel), news.at("identity"), news.at("known")};
  return CheckProblem{news.at("problem")};
}

bool ends_within(pid_t child, std::chrono::milliseconds patience, int& status) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (waitpid(child, &status, WNOHANG) != 0) return true;
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

std::string case_to_run_first(const LessonReport& report) {
  constexpr double kLongWait = 1;  // seconds
  double before = 0;
  for (const CaseResult& result : report.cases) {
    if (!result.passed) return before > kLongWait ? result.name : "";
    before += result.seconds;
  }
  return "";
}

CheckProcess::CheckProcess(CheckJob job) : job_(std::move(job)) {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw MachineError(fmt::format("The check cannot be started: {}.",
                                   std::error_code(errno, std::generic_category()).message()));
  news_ = Descriptor(ends[0]);
  const Descriptor writer(ends[1]);
  fcntl(news_.get(), F_SETFL, O_NONBLOCK);
  std::fflush(nullptr);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) run_checker(job_, writer.get(), parent);
  if (pid_ < 0)
    throw MachineError(fmt::format("The check cannot be started: {}. End some other programs.",
                                   std::error_code(errno, std::generic_category()).message()));
}

CheckProcess::~CheckProcess() {
  news_.close();  // or the process may wait for us to read, while we wait for its end
  end();
}

/// The first signal ends what the process has started, in time to clean up; the second one leaves no time.
int CheckProcess::end() {
  int status = 0;
  if (pid_ <= 0) return status;
  for (const int number : {SIGTERM, SIGTERM, SIGKILL}) {
    if (over_ && ends_within(pid_, std::chrono::milliseconds(0), status)) break;
    kill(pid_, number);
    if (ends_within(pid_, std::chrono::milliseconds(number == SIGKILL ? 10000 : 1500), status)) break;
  }
  pid_ = -1;
  return status;
}

std::vector<CheckNews> CheckProcess::read_news() {
  std::vector<CheckNews> all;
  std::array<char, 65536> buffer;
  ssize_t count = 0;
  while ((count = read(news_.get(), buffer.data(), buffer.size())) > 0)
    unread_.append(buffer.data(), static_cast<std::size_t>(count));
  const bool ended = count == 0;
  std::size_t begin = 0;
  for (std::size_t at; (at = unread_.find('\n', begin)) != std::string::npos; begin = at + 1) {
    all.push_back(news_of(unread_.substr(begin, at - begin), job_.kernel));
    over_ = over_ || std::holds_alternative<CheckDone>(all.back()) ||
            std::holds_alternative<CheckProblem>(all.back());
  }
  unread_.erase(0, begin);
  if (!ended || over_) return all;
  over_ = true;
  const int status = end();
  const std::string how = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                              : fmt::format("exit status {}", WEXITSTATUS(status));
  all.push_back(CheckProblem{fmt::format("The check was ended before it had a result ({}).", how)});
  return all;
}

}  // namespace course::cli
