#include "classroom/cluster_run.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "classroom/class_parts.hpp"
#include "classroom/text.hpp"
#include "grading/base/machine_error.hpp"
#include "grading/base/messages.hpp"
#include "grading/base/subprocess.hpp"

namespace course::classroom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using grading::MachineError;

/// The end of what a task printed, in one line; empty if it printed nothing.
std::string end_of_log(const fs::path& log) try {
  constexpr std::size_t kShown = 400;
  std::istringstream text(grading::read_file(log));
  std::string line;
  for (std::string word; text >> word;) line += (line.empty() ? "" : " ") + word;
  return line.size() <= kShown ? line : "... " + line.substr(line.size() - kShown);
} catch (const std::system_error&) {
  return {};
}

}  // namespace

ClusterRun::ClusterRun(BatchQueue& queue, const VerdictStore& store, ClusterOrder order)
    : queue_(queue), store_(store), order_(std::move(order)), parts_(order_.parts) {
  const fs::path jobs = order_.folder / "jobs";
  std::ifstream earlier(jobs);
  for (std::string job; std::getline(earlier, job);) queue_.cancel(job);
  for (const auto& entry : fs::directory_iterator(order_.folder))
    if (entry.is_regular_file()) fs::remove(entry.path());
  grading::write_file_atomically(order_.folder / "job.sh", order_.script);
  std::set<unsigned> all;
  for (unsigned number = 1; number <= order_.parts; ++number) all.insert(number);
  submit(all);
}

ClusterRun::~ClusterRun() {
  for (const std::string& job : jobs_) queue_.cancel(job);
}

void ClusterRun::submit(const std::set<unsigned>& parts) {
  for (const unsigned number : parts) fs::remove(state_file(order_.folder, number));
  const std::string job = queue_.submit(order_.folder / "job.sh", parts);
  for (const unsigned number : parts) parts_[number - 1].job = job;
  jobs_.push_back(job);
  std::string list;
  for (const std::string& one : jobs_) list += one + "\n";
  grading::write_file_atomically(order_.folder / "jobs", list);  // for a run that goes on after this one
}

FileVerdict ClusterRun::wait_for(std::size_t file, const std::string& conditions,
                                 const std::string& content) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(200);
  const auto number = static_cast<unsigned>(file % order_.parts) + 1;
  const PartRun& part = parts_[number - 1];
  for (bool had_ended = false;; had_ended = part.job.empty()) {
    if (auto verdict = store_.find(conditions, content)) return *verdict;
    if (part.given_up) break;
    if (had_ended &&
        must_run_again(number, "did not find this file: have the submissions changed meanwhile?", true))
      submit({number});
    if (!part.job.empty() && Clock::now() - looked_ >= order_.pause) look();
    grading::throw_if_interrupted();
    if (!part.job.empty()) std::this_thread::sleep_for(kBetweenLooks);
  }
  FileVerdict verdict;
  const auto state = read_state(state_file(order_.folder, number));
  const auto known =
      state ? state->ungraded.find(store_.name_of(conditions, content)) : decltype(state->ungraded.end())();
  verdict.message = state && known != state->ungraded.end() ? known->second : words_about(number);
  return verdict;
}

std::string ClusterRun::words_about(unsigned number) const {
  return fmt::format("Part {} of {} on the cluster was tried {} times and {}", number, order_.parts, kTries,
                     parts_[number - 1].last);
}

/// Asks the queue which parts have left it, and has those run again that left nothing done.
void ClusterRun::look() {
  looked_ = Clock::now();
  std::set<std::string> jobs;
  for (const PartRun& part : parts_)
    if (!part.job.empty()) jobs.insert(part.job);
  std::set<unsigned> again;
  for (const std::string& job : jobs) {
    const auto unfinished = queue_.unfinished(job);
    if (!unfinished && !std::exchange(silent_, true))
      order_.on_note("Slurm's controller does not answer; the run waits until it does.");
    if (!unfinished) break;
    silent_ = false;
    for (unsigned number = 1; number <= order_.parts; ++number) {
      PartRun& part = parts_[number - 1];
      if (part.job != job) continue;
      const auto state = read_state(state_file(order_.folder, number));
      any_began_ = any_began_ || state;
      if (state && state->conditions != order_.conditions)
        throw MachineError(fmt::format(
            "{} would judge by another compiler, other libraries or another build than this machine, so that "
            "its verdicts do not count. Choose nodes that are alike, and type the command on one of them.",
            state->host));
      if (unfinished->contains(number)) continue;
      part.job.clear();
      if (state && state->ended && state->ungraded.empty()) continue;
      const std::string host = state ? " on " + state->host : "";
      std::string problem = fmt::format("ended{} before its end.", host);
      if (state && state->ended)
        problem = fmt::format("could not judge {}{}.", grading::plural(state->ungraded.size(), "file"), host);
      else if (state && !state->error.empty())
        problem = fmt::format("stopped{}: {}", host, state->error);
      else if (const std::string log = end_of_log(order_.folder / fmt::format("{}.log", number));
               !log.empty())
        problem = fmt::format("ended{} before its end; its log: {}", host, log);
      if (must_run_again(number, problem, !state || state->judged == 0)) again.insert(number);
    }
  }
  if (!again.empty()) submit(again);
}

/// Counts the try. False: the part is given up.
bool ClusterRun::must_run_again(unsigned number, const std::string& problem, bool came_to_nothing) {
  PartRun& part = parts_[number - 1];
  part.last = problem;
  if (came_to_nothing) ++part.tries;
  part.given_up = part.tries >= kTries;
  order_.on_note(fmt::format("Part {} of {} {} {}", number, order_.parts, problem,
                             part.given_up ? "It is given up." : "It runs again."));
  if (!part.given_up || any_began_) return !part.given_up;
  const bool silent = !fs::exists(order_.folder / fmt::format("{}.log", number));
  throw MachineError(
      silent ? fmt::format("No task of the cluster has written anything to {}: is this folder shared with "
                           "all nodes, at the same path, like the course and the submissions?",
                           order_.folder.string())
             : words_about(number));
}

}  // namespace course::classroom
