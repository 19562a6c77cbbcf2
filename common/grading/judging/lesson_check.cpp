#include "grading/judging/lesson_check.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

#include "grading/base/messages.hpp"
#include "grading/base/subprocess.hpp"

namespace course::grading {
namespace {

namespace fs = std::filesystem;

/// Of a call. One thread runs its blocks, and other files may be judged at the same time.
constexpr int kConfinedSeconds = 20;

std::string last_lines(const std::string& text, std::size_t count) {
  std::size_t begin = text.size();
  while (begin > 0 && text[begin - 1] == '\n') --begin;
  const std::size_t end = begin;
  for (std::size_t lines = 0; begin > 0 && lines < count; --begin) {
    if (text[begin - 1] == '\n' && ++lines == count) break;
  }
  return text.substr(begin, end - begin);
}

/// What makes Catch2 choose the case of this name, and no other.
std::string catch_pattern(const std::string& name) {
  std::string pattern;
  for (const char letter : name) {
    if (std::string_view(",[]*\\\"~").find(letter) != std::string_view::npos) pattern += '\\';
    pattern += letter;
  }
  return pattern;
}

std::string why_not_checked(const KernelBuilds& builds) {
  if (builds.check_problem.empty()) return "";
  return "Without diagnoses and counters: check mode could not be prepared. " +
         first_line(builds.check_problem);
}

}  // namespace

std::string KernelBuilds::why_not_compiled() const {
  if (!run.ok()) return run.message;
  if (!check || check->ok()) return {};
  return "Your file compiles, but not for check mode, in which small calls run once more:\n" + check->message;
}

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::fail:
      return "fail";
    case Verdict::error:
      break;
  }
  return "error";
}

std::vector<std::string> test_command(const Toolchain& toolchain, const Lesson& lesson,
                                      const fs::path& library, Backend backend) {
  return {toolchain.lessons.at(lesson.id()).test,
          "--kernel",
          library,
          "--worker",
          toolchain.worker(backend),
          "--backend",
          backend_name(backend)};
}

std::string why_incomplete(const CommandResult& result, const Results& results) {
  std::string how;
  if (result.timed_out) {
    how = "The tests took too long all together and were stopped.";
  } else if (result.signal != 0) {
    how = "The test program was ended by signal " + std::to_string(result.signal) + ".";
  } else if (results.truncated || results.cases.empty()) {
    how = "The test program gave no results (exit status " + std::to_string(result.exit_code) + ").";
  } else {
    return "";
  }
  const std::string said = last_lines(result.output, 5);
  return said.empty() ? how : how + " It said:\n" + said;
}

void add_up(LessonReport& report) {
  report.points = 0;
  for (const CaseResult& result : report.cases) report.points += result.passed ? result.points : 0;
  const bool all =
      std::all_of(report.cases.begin(), report.cases.end(), [](const CaseResult& c) { return c.passed; });
  report.cause = likeliest_cause(report.cases);
  if (report.error.empty()) report.verdict = all ? Verdict::pass : Verdict::fail;
}

/// Whether a file has grown since it was last asked.
class Growth {
 public:
  explicit Growth(fs::path file) : file_(std::move(file)) {}
  bool operator()() {
    std::error_code none_yet;
    const std::uintmax_t size = fs::file_size(file_, none_yet);
    return !none_yet && std::exchange(seen_, size) != size;
  }

 private:
  fs::path file_;
  std::uintmax_t seen_ = 0;
};

Command tests_command(const Toolchain& toolchain, const Lesson& lesson, const fs::path& library,
                      const CheckOptions& options, const fs::path& results_file) {
  Command command;
  command.arguments = test_command(toolchain, lesson, library, options.backend);
  command.arguments.insert(command.arguments.end(), {"--results", results_file});
  // A confined run has its seed from a file.
  if (options.seed != 0 && options.confinement.empty())
    command.arguments.insert(command.arguments.end(), {"--seed", std::to_string(options.seed)});
  std::string chosen;
  for (const std::string& name : options.only_cases)
    chosen += (chosen.empty() ? "" : ",") + catch_pattern(name);
  if (!chosen.empty()) command.arguments.push_back(chosen);
  command.directory = toolchain.source_dir;
  command.timeout = options.longest;
  if (options.on_case)
    command.on_tick = [&options, results_file, has_grown = Growth(results_file)]() mutable {
      if (has_grown()) options.on_case(count_results(results_file));
    };
  return command;
}

LessonReport check_kernel(const Toolchain& toolchain, const Lesson& lesson, const fs::path& source,
                          const KernelBuilds& builds, const CheckOptions& options) {
  LessonReport report;
  report.lesson = lesson;
  report.source = source;
  report.error = builds.why_not_compiled();
  if (!report.error.empty()) return report;
  report.compiled = true;
  report.not_checked = why_not_checked(builds);
  const auto start = std::chrono::steady_clock::now();
  try {
    const ScratchFolder scratch(options.scratch.empty() ? toolchain.binary_dir / "kernels" : options.scratch);
    const fs::path results_file = scratch.path() / "results.jsonl";
    Command command = tests_command(toolchain, lesson, builds.run.library, options, results_file);
    const auto add = [&](const std::string& option, const std::string& value) {
      command.arguments.insert(command.arguments.end(), {option, value});
    };
    if (builds.check && builds.check->ok()) add("--check-kernel", builds.check->library);
    if (!options.confinement.empty()) {
      const fs::path seed_file = scratch.path() / "seed";  // in a folder that is ours alone
      write_file_atomically(seed_file, std::to_string(options.seed));
      add("--seed-file", seed_file);
      add("--confinement", options.confinement);
      add("--timeout", std::to_string(kConfinedSeconds));
    }
    Results results;
    if (options.enough) {
      command.enough = [&, has_grown = Growth(results_file)]() mutable {
        if (!has_grown()) return false;  // no case has ended since the last look
        results = read_results(results_file);
        return options.enough(results.cases);
      };
    }
    const CommandResult result = run_command(command);
    if (!result.stopped) {
      results = read_results(results_file);
      report.error = why_incomplete(result, results);
      report.too_long = result.timed_out;
    }
    report.cases = std::move(results.cases);
  } catch (const std::system_error& error) {
    throw MachineError("The tests of lesson " + lesson.id() + " cannot run: " + error.what() + ".");
  }
  add_up(report);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace course::grading
