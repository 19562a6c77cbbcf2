#include "grading/judging/sanitize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

#include "grading/base/machine_error.hpp"
#include "grading/base/messages.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/facts/words.hpp"
#include "grading/sanitizer/log.hpp"

namespace course::grading {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestLog = std::size_t{8} << 20;  // bytes that are read of one

/// What one run of the tests under one tool came to.
struct ToolRun {
  Results results;
  std::map<int, SanitizerLog> logs;  ///< by the number of the case that started the worker, from 1 on
  bool cut = false;                  ///< a log was longer than what is read of one
  bool timed_out = false;

  bool has_mistakes() const {
    return std::any_of(logs.begin(), logs.end(), [](const auto& log) { return log.second.has_mistakes(); });
  }
};

/// The tests of one kernel, and the tool under which they run.
struct ToolJob {
  const Toolchain& toolchain;
  const LessonReport& report;
  const fs::path& library;
  const CheckOptions& options;
  const Sanitizer& sanitizer;
  std::string tool;
};

/// The whole lines of a log, or of its beginning: then `cut` becomes true.
std::string read_log(const fs::path& file, bool& cut) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw MachineError(fmt::format("{} cannot be read.", file.string()));
  std::string text(kLongestLog + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  cut = cut || text.size() > kLongestLog;
  text.resize(text.rfind('\n') + 1);  // a line without its end is still being written
  return text;
}

std::vector<fs::path> logs_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (case_of_log(entry.path()) > 0) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void read_logs(const ToolJob& job, const fs::path& folder, ToolRun& run) {
  for (const fs::path& file : logs_in(folder)) {
    SanitizerLog log = parse_sanitizer_log(read_log(file, run.cut), job.tool, job.report.source);
    const auto [known, is_new] = run.logs.try_emplace(case_of_log(file), log);
    if (!is_new) add_log(known->second, log);
  }
}

bool has_machine_error(const Results& results) {
  return std::any_of(results.cases.begin(), results.cases.end(),
                     [](const CaseResult& one) { return one.infrastructure; });
}

/// Whether a run need not go on: the tool cannot work, or has a finding already and that is all that is
/// asked. Looks twice a second, at logs that have grown.
class EarlyEnd {
 public:
  EarlyEnd(const ToolJob& job, fs::path logs, fs::path results_file, bool at_finding)
      : job_(job), logs_(std::move(logs)), results_file_(std::move(results_file)), at_finding_(at_finding) {}

  bool operator()() {
    if (Clock::now() < next_look_) return false;
    next_look_ = Clock::now() + std::chrono::milliseconds(500);
    if (has_machine_error(read_results(results_file_))) return true;
    const std::vector<fs::path> files = logs_in(logs_);
    return std::any_of(files.begin(), files.end(), [&](const fs::path& file) { return ends(file); });
  }

 private:
  bool ends(const fs::path& file) {
    std::error_code gone;
    const std::uintmax_t size = fs::file_size(file, gone);
    if (gone || std::exchange(sizes_[file], size) == size) return false;
    bool cut = false;
    const SanitizerLog log = parse_sanitizer_log(read_log(file, cut), job_.tool, job_.report.source);
    return !log.problem.empty() || (at_finding_ && log.has_mistakes());
  }

  const ToolJob& job_;
  fs::path logs_, results_file_;
  bool at_finding_;
  std::map<fs::path, std::uintmax_t> sizes_;
  Clock::time_point next_look_ = Clock::now();
};

/// @throws MachineError that names the tool
[[noreturn]] void cannot_work(const ToolJob& job, const std::string& why) {
  throw MachineError(fmt::format("{} cannot work here: {}{}", job.tool, why, why.ends_with('.') ? "" : "."));
}

/// Fails if the tool could not do its work.
void require_working(const ToolJob& job, const ToolRun& run) {
  for (const auto& [number, log] : run.logs)
    if (!log.problem.empty()) cannot_work(job, log.problem);
  for (const CaseResult& result : run.results.cases)
    if (result.infrastructure) cannot_work(job, first_line(to_words(result, std::nullopt)));
}

/// Fails unless the tool saw all of a run to its end, or the results say what it missed.
void require_complete(const ToolJob& job, const ToolRun& run) {
  const std::vector<CaseResult>& cases = run.results.cases;
  if (run.logs.empty() && !cases.empty()) cannot_work(job, "it left no log");
  const bool complete =
      std::all_of(run.logs.begin(), run.logs.end(), [](const auto& log) { return log.second.complete; });
  const bool has_notes =
      std::any_of(cases.begin(), cases.end(), [](const CaseResult& one) { return !one.findings.empty(); });
  if (!complete && !run.cut && !has_notes)
    cannot_work(job, "its log ends without a summary, so that nobody knows what it looked at");
}

ToolRun run_tool(const ToolJob& job, bool worker_a_case) {
  const CheckOptions& options = job.options;
  const ScratchFolder scratch(options.scratch.empty() ? job.toolchain.binary_dir / "kernels"
                                                      : options.scratch);
  const fs::path results_file = scratch.path() / "results.jsonl", logs = scratch.path() / "logs",
                 description = scratch.path() / "sanitizer.json";
  fs::create_directory(logs);
  write_file_atomically(description, to_json(SanitizerRun{job.tool, sanitizer_words(job.sanitizer, job.tool),
                                                          logs, worker_a_case}));
  Command command = tests_command(job.toolchain, job.report.lesson, job.library, options, results_file);
  command.arguments.insert(command.arguments.end(), {"--sanitizer", description});
  command.enough = EarlyEnd(job, logs, results_file, !worker_a_case);
  const CommandResult result = run_command(command);
  ToolRun run;
  run.results = read_results(results_file);
  run.timed_out = result.timed_out;
  read_logs(job, logs, run);
  require_working(job, run);
  if (result.stopped || result.timed_out) return run;
  require_complete(job, run);
  if (const std::string why = why_incomplete(result, run.results); !why.empty())
    throw MachineError(fmt::format("The tests cannot run under {}. {}", job.tool, why));
  return run;
}

CaseResult* find_case(LessonReport& report, const std::string& name) {
  const auto found = std::find_if(report.cases.begin(), report.cases.end(),
                                  [&](const CaseResult& one) { return one.name == name; });
  return found == report.cases.end() ? nullptr : &*found;
}

/// What CUDA said of a kernel's end, without its line, gives way to the tool's finding.
void replace_fault(CaseResult& result, const std::vector<Finding>& found) {
  const bool explained = std::any_of(found.begin(), found.end(), [](const Finding& one) {
    return one.severity == Severity::error && one.tool == "memcheck";
  });
  if (explained)
    std::erase_if(result.findings, [](const Finding& one) {
      return one.tool.empty() && one.here.line == 0 && one.kind.starts_with("cudaError");
    });
}

void add_to_case(CaseResult& result, const std::vector<Finding>& found) {
  replace_fault(result, found);
  add_new(result.findings, found);
  fail_if_found(result);
}

Finding note(const ToolJob& job, const std::string& sentence) { return note_not_checked(sentence, job.tool); }

/// Adds findings and notes to the cases in which they came about; the cases are in the order of their
/// numbers. `in_whole_cases`: each log belongs to one case. Else it begins with its case and may go on.
void take_over(const ToolJob& job, const ToolRun& run, bool in_whole_cases, LessonReport& report) {
  for (const CaseResult& result : run.results.cases)
    if (CaseResult* const one = find_case(report, result.name)) add_to_case(*one, result.findings);
  for (const auto& [number, log] : run.logs) {
    const auto index = static_cast<std::size_t>(number) - 1;
    CaseResult* one =
        index < run.results.cases.size() ? find_case(report, run.results.cases[index].name) : nullptr;
    if (one == nullptr && !report.cases.empty()) one = &report.cases.back();  // the case was never finished
    if (one == nullptr) continue;
    std::vector<Finding> found = findings_of(log, job.tool);
    if (!in_whole_cases)
      for (Finding& finding : found) finding.fix += " It was seen in this case or in a later one.";
    add_to_case(*one, found);
  }
  if (report.cases.empty()) return;
  if (run.cut)
    add_to_case(report.cases.front(),
                {note(job, fmt::format("{} wrote a log of more than {} MiB; only its beginning was read.",
                                       job.tool, kLongestLog >> 20))});
  if (run.timed_out)
    add_to_case(report.cases.front(),
                {note(job, fmt::format("The tests took too long under {} and were stopped.", job.tool))});
}

}  // namespace

void sanitize(const Toolchain& toolchain, const KernelBuilds& builds, const CheckOptions& options,
              const Sanitizer& sanitizer, const std::function<void(std::string_view)>& on_tool,
              LessonReport& report) try {
  const auto start = Clock::now();
  for (const std::string_view tool : kSanitizerTools) {
    if (on_tool) on_tool(tool);
    const ToolJob job{toolchain, report, builds.run.library, options, sanitizer, std::string(tool)};
    ToolRun run = run_tool(job, false);
    bool in_whole_cases = false;
    if (run.has_mistakes()) {
      ToolRun closer = run_tool(job, true);
      // What came by chance may not come again.
      in_whole_cases = closer.has_mistakes();
      if (in_whole_cases) run = std::move(closer);
    }
    take_over(job, run, in_whole_cases, report);
    report.tools.emplace_back(tool);
  }
  add_up(report);
  report.seconds += std::chrono::duration<double>(Clock::now() - start).count();
} catch (const std::system_error& error) {
  throw MachineError(fmt::format("The tools cannot run: {}.", error.what()));
}

}  // namespace course::grading
