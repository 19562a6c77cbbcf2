#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <ctime>
#include <memory>
#include <optional>
#include <variant>

#include "cli/check_process.hpp"
#include "cli/commands.hpp"
#include "cli/file_watcher.hpp"
#include "cli/one_kernel.hpp"
#include "cli/progress.hpp"
#include "cli/raw_terminal.hpp"
#include "cli/watch_screen.hpp"
#include "cli/workspace.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/build/kernel_cache.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;
using Clock = std::chrono::steady_clock;
using Stage = WatchView::Stage;

constexpr char kControlD = 4, kControlL = 12;

/// The time of day, such as 12:03:15.
std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

/// The loop: waits for a save, a key, news of the running check or a signal, and does one thing at a time.
class Watch {
 public:
  Watch(Workspace& workspace, const std::string& backend)
      : workspace_(workspace),
        options_(workspace.choose_backend(backend)),
        keyboard_(screen_.is_terminal() ? STDIN_FILENO : -1) {
    view_.keys = screen_.is_terminal() && isatty(STDIN_FILENO) != 0;
  }

  void begin_lesson(const Lesson& lesson, const fs::path& file);
  int run();

 private:
  void wait();
  void begin_check(const std::string& why, bool again = false);
  void on_change(Change change);
  void read_news();
  void on_news(const CheckNews& news);
  void on_report(const CheckDone& done);
  void on_problem(const std::string& problem);
  void on_key(char key);
  void on_signal(int number);
  void go_to_next_lesson();
  void go_to_next_failure();
  void remember(const CheckDone& done);
  std::vector<std::string> passes_of(const KernelSource& kernel) const;
  void show_final();
  void look_at_file();
  void stop();

  // First, so that threads of a GPU's driver do not get these signals, and last to go, behind the keyboard.
  SignalInbox signals_{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};
  Workspace& workspace_;
  CheckOptions options_;
  WatchScreen screen_;
  RawTerminal keyboard_;
  std::optional<FileWatcher> watcher_;
  std::unique_ptr<CheckProcess> check_;
  WatchView view_;
  Fingerprint judging_;     // of the files as the running check finds them
  std::string first_case_;  // see CheckJob
  bool tests_ready_ = false, quit_ = false;
  Clock::time_point asked_;  // when the running check was asked for
};

void Watch::begin_lesson(const Lesson& lesson, const fs::path& file) {
  check_.reset();
  watcher_.emplace(file);
  const auto& all = workspace_.lessons();
  view_.next.reset();
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    if (all[i].number == lesson.number) view_.next = all[i + 1];
  view_.report.lesson = lesson;
  view_.report.source = file;
  tests_ready_ = false;
  first_case_.clear();
  begin_check("Started at " + time_of_day());
}

/// `again`: also if the same file has passed.
void Watch::begin_check(const std::string& why, bool again) {
  // A check that is still building its tests has not read the file yet, and ninja is better not interrupted.
  if (tests_ready_) check_.reset();
  if (view_.stage != Stage::checking) screen_.begin_anew();
  const KernelSource kernel{view_.report.lesson, view_.report.source};
  view_.report = {};
  view_.report.lesson = kernel.lesson;
  view_.report.source = kernel.file;
  view_.first.reset();
  view_.why = why;
  view_.step = tests_ready_ ? "compiling" : "building the tests";
  view_.aside.clear();
  view_.note.clear();
  asked_ = Clock::now();
  if (!watcher_->is_there()) {
    view_.stage = Stage::missing;
    show_final();
    return;
  }
  view_.stage = Stage::checking;
  view_.failed_case = 0;
  view_.untouched = is_pristine(kernel.lesson, kernel.file);
  judging_ = fingerprint(kernel.lesson);
  try {
    if (!check_)
      check_ =
          std::make_unique<CheckProcess>(CheckJob{kernel, options_, tests_ready_, first_case_,
                                                  again ? std::vector<std::string>{} : passes_of(kernel)});
  } catch (const MachineError& error) {
    on_problem(error.what());
  }
  screen_.draw(view_);
}

void Watch::on_change(Change change) {
  const bool was_stale = view_.stage == Stage::checking && !check_;
  if (change == Change::missing) {
    if (view_.stage == Stage::missing) return;
    check_.reset();
    if (view_.stage != Stage::checking) screen_.begin_anew();
    view_.stage = Stage::missing;
    view_.aside.clear();
    show_final();
  } else if (change == Change::saved || view_.stage == Stage::missing || was_stale) {
    begin_check("Saved at " + time_of_day());
  } else {
    view_.note = "Saved at " + time_of_day() + " without a change.";
    screen_.draw(view_);
  }
}

void Watch::on_news(const CheckNews& news) {
  if (const auto* step = std::get_if<CheckStep>(&news)) view_.step = step->words;
  if (std::holds_alternative<TestsReady>(news)) tests_ready_ = true;
  if (const auto* first = std::get_if<FirstCase>(&news)) view_.first = first->result;
  if (const auto* ended = std::get_if<CaseDone>(&news)) view_.report.cases.push_back(ended->result);
  if (const auto* done = std::get_if<CheckDone>(&news)) on_report(*done);
  if (const auto* problem = std::get_if<CheckProblem>(&news)) on_problem(problem->message);
}

void Watch::on_report(const CheckDone& done) {
  const LessonReport& report = done.report;
  if (!watcher_->is_as_seen()) {  // it may be about either content; the save is about to be noticed
    check_.reset();
    view_.step = "saved meanwhile";
    watcher_->look_again();
    return;
  }
  view_.stage = Stage::judged;
  view_.report = report;
  view_.seconds = std::chrono::duration<double>(Clock::now() - asked_).count();
  first_case_ = case_to_run_first(report);
  if (!report.error.empty()) tests_ready_ = !report.compiled;
  remember(done);
  if (done.known && view_.note.empty()) view_.note = fmt::format("{}.", kPassedBefore);
  show_final();
}

void Watch::on_problem(const std::string& problem) {
  tests_ready_ = false;
  view_.stage = Stage::problem;
  view_.problem = problem;
  show_final();
}

void Watch::read_news() {
  if (!check_) return;
  const auto news = check_->read_news();
  for (const CheckNews& one : news) on_news(one);
  if (view_.stage != Stage::checking) check_.reset();
  if (!news.empty() && view_.stage == Stage::checking) screen_.draw(view_);
}

/// Only the student's own file counts.
void Watch::remember(const CheckDone& done) {
  if (done.report.source != done.report.lesson.stub()) return;
  view_.note = update_progress(progress_file(workspace_.toolchain().source_dir), [&](Progress& progress) {
    record_check(progress, done.report, judging_, done.identity);
  });
}

std::vector<std::string> Watch::passes_of(const KernelSource& kernel) const {
  if (kernel.file != kernel.lesson.stub()) return {};
  return load_progress(progress_file(workspace_.toolchain().source_dir)).lessons[kernel.lesson.id()].passes;
}

void Watch::show_final() {
  screen_.draw(view_);
  screen_.write_block(view_);
  if (!view_.note.empty()) screen_.write_line(view_.note);
}

void Watch::go_to_next_lesson() {
  if (view_.next) {
    const Lesson next = *view_.next;
    begin_lesson(next, next.stub());
  } else {
    view_.note = "This is the last lesson.";
    screen_.draw(view_);
  }
}

void Watch::go_to_next_failure() {
  const std::vector<CaseResult>& cases = view_.report.cases;
  const auto failed =
      std::count_if(cases.begin(), cases.end(), [](const CaseResult& one) { return !one.passed; });
  if (view_.stage == Stage::judged && failed > 1)
    ++view_.failed_case;
  else if (view_.stage == Stage::checking)
    view_.note = "The cases are still running: f shows the next failure when all have ended.";
  else
    view_.note = failed == 1 ? "This is the only case that fails."
                 : view_.stage == Stage::judged && !view_.report.compiled
                     ? "No case was run: the file does not compile."
                     : "No case has failed.";
}

void Watch::on_key(char key) {
  if (key >= 'A' && key <= 'Z') key = static_cast<char>(key - 'A' + 'a');
  view_.note.clear();
  if (key == 'q' || key == kControlD) {
    quit_ = true;
  } else if (key == 'n') {
    go_to_next_lesson();
  } else if (key == 'r') {
    if (tests_ready_) check_.reset();
    tests_ready_ = false;  // whoever changes them runs them again by this key
    look_at_file();
    watcher_->look_again();
    watcher_->settle(Clock::time_point::max());  // what is there now is what is checked
    begin_check("Run again at " + time_of_day(), true);
  } else {
    const Terminal terminal;  // as it is now, and not as the commands would find what they print to
    const HintArguments hint{.lesson = view_.report.lesson.id(), .watching = true};
    if (key == 'f') go_to_next_failure();
    if (key == 'h') view_.aside = printed_by([&] { run_hint(terminal, hint); });
    if (key == 'l') view_.aside = printed_by([&] { run_list(terminal, ListArguments{}); });
    if (key == '?') view_.aside = render_keys(terminal);
    if (key == 'c' || key == kControlL) view_.aside.clear();
    screen_.draw(view_);
  }
}

void Watch::stop() {
  screen_.leave();
  keyboard_.give_back();
  stop_here();
}

void Watch::on_signal(int number) {
  if (number == SIGTSTP) stop();
  if (number == SIGTSTP || number == SIGCONT || number == SIGWINCH) {
    if (view_.keys) keyboard_.take();
    screen_.draw(view_);
    return;
  }
  throw Interrupted(number);
}

void Watch::look_at_file() {
  try {
    watcher_->read_events();
  } catch (const MachineError& error) {
    check_.reset();
    on_problem(error.what());
  }
}

void Watch::wait() {
  std::array<pollfd, 5> waiting{{{STDOUT_FILENO, 0, 0},  // tells only that nobody reads it any more
                                 {signals_.descriptor(), POLLIN, 0},
                                 {watcher_->descriptor(), POLLIN, 0},
                                 {keyboard_.taken() ? STDIN_FILENO : -1, POLLIN, 0},
                                 {check_ ? check_->descriptor() : -1, POLLIN, 0}}};
  int patience = -1;
  if (const auto due = watcher_->due()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - Clock::now()).count();
    patience = static_cast<int>(std::max<std::int64_t>(left, 0));
  }
  poll(waiting.data(), waiting.size(), patience);
  if (!screen_.is_terminal() && (waiting[0].revents & POLLERR) != 0)
    throw OutputGone("cannot write to standard output: nobody reads it any more.");
  while (const auto number = signals_.next()) on_signal(*number);
  read_news();  // first, so that it is known whether the running check has read the file
  look_at_file();
  if (const auto change = watcher_->settle(Clock::now())) on_change(*change);
  for (const char key : keyboard_.read_keys())
    if (!quit_) on_key(key);
}

int Watch::run() {
  try {
    while (!quit_) wait();
    screen_.leave();
    return kAllPassed;
  } catch (const Interrupted& interrupted) {
    if (interrupted.signal == SIGHUP) return 128 + SIGHUP;  // nobody is left to be told
    screen_.leave();
    throw;
  } catch (const OutputGone&) {
    if (screen_.is_terminal()) return 128 + SIGHUP;  // it was closed, and the signal is on its way
    throw;
  }
}

}  // namespace

int run_watch(const Terminal& terminal, const WatchArguments& arguments) {
  Workspace workspace(terminal);
  if (isatty(STDIN_FILENO) == 0 && isatty(STDOUT_FILENO) == 0)
    throw UsageError(
        "watch goes on until somebody quits it, and neither its input nor its output is a terminal here: "
        "./course check checks once.");
  std::string chosen = arguments.lesson;
  if (chosen.empty()) {
    const Progress progress = load_progress(progress_file(workspace.toolchain().source_dir));
    tell_problem(terminal, progress.problem);
    const Lesson* const at = lesson_at(workspace.lessons(), progress);
    if (at == nullptr) {
      fmt::print("All lessons have passed. ./course watch LESSON watches one of them.\n");
      return kAllPassed;
    }
    chosen = at->id();
  }
  const KernelSource kernel = choose_one_kernel(workspace, "watch", chosen, false, arguments.file);
  Watch watch(workspace, arguments.backend);
  watch.begin_lesson(kernel.lesson, kernel.file);
  return watch.run();
}

}  // namespace course::cli
