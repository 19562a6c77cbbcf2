#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/kernel_queue.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/words.hpp"
#include "cli/workspace.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/judging/sanitize.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

/// The kernels that the arguments ask for, one a lesson.
std::vector<KernelSource> choose_kernels(const Workspace& workspace, const CheckArguments& arguments) {
  const std::vector<Lesson> lessons = workspace.select(arguments.lessons);
  if (!arguments.file.empty()) {
    if (lessons.size() != 1 || arguments.lessons.empty())
      throw UsageError("--file needs exactly one lesson.");
    if (!fs::is_regular_file(arguments.file))
      throw UsageError(fmt::format("There is no file {}.", arguments.file));
    return {{lessons.front(), fs::absolute(arguments.file)}};
  }
  std::vector<KernelSource> kernels;
  for (const Lesson& lesson : lessons)
    kernels.push_back({lesson, arguments.solution ? lesson.solution() : lesson.stub()});
  return kernels;
}

/// Finds out before the work is done whether its result can be written.
void require_writable_report(const std::string& json) {
  if (json.empty() || json == "-") return;
  const fs::path folder = fs::absolute(json).parent_path();
  if (!fs::is_directory(folder))
    throw UsageError(fmt::format("--json {}: there is no folder {}.", json, folder.string()));
  if (fs::is_directory(json)) throw UsageError(fmt::format("--json {}: that is a folder.", json));
}

void write_report(const std::string& json, const std::string& content) {
  if (json.empty()) return;
  if (json == "-") {
    fmt::print("{}", content);
    return;
  }
  try {
    write_file_atomically(fs::absolute(json), content);
  } catch (const std::system_error& error) {
    throw MachineError(fmt::format("{}.", error.what()));
  }
}

std::string command_again(const CheckArguments& arguments, const LessonReport& report) {
  std::string command = "./course check " + report.lesson.two_digits();
  if (arguments.solution) command += " --solution";
  if (!arguments.file.empty()) command += " --file " + shell_word(arguments.file);
  if (arguments.seed != 0) command += fmt::format(" --seed {}", arguments.seed);
  if (arguments.sanitize) command += " --sanitize";
  return command;
}

/// What a student does who has passed.
std::string next_step(const Workspace& workspace, const Lesson& passed) {
  const auto& lessons = workspace.lessons();
  const auto next = std::find_if(lessons.begin(), lessons.end(),
                                 [&](const Lesson& lesson) { return lesson.number > passed.number; });
  const std::string compare =
      fmt::format("Next: ./course solution {} shows how the worked solution does it", passed.two_digits());
  if (next == lessons.end()) return compare + ".";
  return fmt::format("{}; then lesson {}, lessons/{}/README.md.", compare, next->two_digits(), next->id());
}

/// Progress that cannot be saved is told, and changes no verdict.
void remember(const Terminal& terminal, const Workspace& workspace, const LessonReport& report,
              const Fingerprint& judged) {
  const fs::path file = progress_file(workspace.toolchain().source_dir);
  tell_problem(terminal,
               update_progress(file, [&](Progress& progress) { record_check(progress, report, judged); }));
}

/// Where the kernels run. NVIDIA's tools watch a GPU; what a test has put in their place need not.
CheckOptions choose_backend(const Workspace& workspace, const CheckArguments& arguments) {
  if (!arguments.sanitize || std::getenv(kSanitizerVariable) != nullptr)
    return workspace.choose_backend(arguments.backend);
  if (arguments.backend == "cpu")
    throw UsageError(
        "--sanitize runs NVIDIA's tools, which need a GPU. Leave it out: with --backend cpu, check mode "
        "looks for the same mistakes.");
  try {
    return workspace.choose_backend("gpu");
  } catch (const MachineError& error) {
    throw MachineError(
        fmt::format("--sanitize runs NVIDIA's tools, which need a GPU; without it, check mode looks for the "
                    "same mistakes here. {}",
                    error.what()));
  }
}

}  // namespace

int run_check(const Terminal& terminal, const CheckArguments& arguments) {
  Workspace workspace(terminal);
  if (arguments.solution && !arguments.file.empty())
    throw UsageError("--solution and --file exclude each other.");
  const std::vector<KernelSource> kernels = choose_kernels(workspace, arguments);
  require_writable_report(arguments.json);
  CheckOptions options = choose_backend(workspace, arguments);
  options.seed = arguments.seed;
  std::optional<Sanitizer> sanitizer;
  if (arguments.sanitize) sanitizer = find_sanitizer(workspace.toolchain());
  std::vector<Lesson> lessons;
  for (const KernelSource& kernel : kernels) lessons.push_back(kernel.lesson);
  const bool own_files = !arguments.solution && arguments.file.empty();
  std::vector<Fingerprint> judged;  // before anything is compiled, so that an edit meanwhile shows
  for (const Lesson& lesson : lessons) judged.push_back(own_files ? fingerprint(lesson) : Fingerprint{});
  workspace.make_ready(lessons);

  const bool for_people = arguments.json != "-";
  std::vector<LessonReport> reports;
  KernelQueue queue(workspace.toolchain(), kernels, options);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Lesson& lesson = kernels[i].lesson;
    terminal.show_progress(fmt::format("{} compiling", lesson.id()), i, kernels.size());
    const KernelBuilds builds = queue.take(i);
    std::string tool;  // that runs now, and a blank
    options.on_case = [&](int done) {
      terminal.show_progress(fmt::format("{} {}{} cases done", lesson.id(), tool, done), i, kernels.size());
    };
    options.on_case(0);
    reports.push_back(check_kernel(workspace.toolchain(), lesson, kernels[i].file, builds, options));
    const auto on_tool = [&](std::string_view name) {
      tool = std::string(name) + " ";
      options.on_case(0);
    };
    if (sanitizer && reports.back().compiled && reports.back().error.empty())
      sanitize(workspace.toolchain(), builds, options, *sanitizer, on_tool, reports.back());
    terminal.clear_progress();
    const LessonReport& report = reports.back();
    if (for_people) {
      const ReportStyle style{.verbose = arguments.verbose, .command = command_again(arguments, report)};
      fmt::print("{}", render_report(terminal, report, style));
      if (own_files && kernels.size() == 1 && report.verdict == Verdict::pass)
        fmt::print("{}", wrap(next_step(workspace, lesson), 2, terminal.width()));
      std::fflush(stdout);
    }
    if (own_files) remember(terminal, workspace, report, judged[i]);
  }
  if (for_people && reports.size() > 1) fmt::print("{}", render_summary(terminal, reports));
  write_report(arguments.json, to_json(reports, options.backend));
  const bool all = std::all_of(reports.begin(), reports.end(),
                               [](const LessonReport& r) { return r.verdict == Verdict::pass; });
  return all ? kAllPassed : kSomethingFailed;
}

}  // namespace course::cli
