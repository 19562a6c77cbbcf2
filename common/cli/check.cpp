#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/case_names.hpp"
#include "cli/commands.hpp"
#include "cli/kernel_queue.hpp"
#include "cli/one_kernel.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/shell_word.hpp"
#include "cli/workspace.hpp"
#include "grading/base/messages.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/judging/sanitize.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

std::string command_again(const CheckArguments& arguments, const LessonReport& report) {
  std::string command = "./course check " + report.lesson.two_digits();
  if (arguments.solution) command += " --solution";
  if (!arguments.file.empty()) command += " --file " + shell_word(arguments.file);
  if (arguments.seed != 0) command += fmt::format(" --seed {}", arguments.seed);
  if (arguments.sanitize) command += " --sanitize";
  if (!arguments.test_case.empty()) command += " --case " + shell_word(arguments.test_case);
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

/// What makes a pass of another file one of the lesson.
std::string how_to_keep(const Lesson& lesson, const std::string& file) {
  const std::string own = lesson.stub().lexically_relative(lesson.root).string();
  return fmt::format("Next: copy {} to {}, which progress goes by.", shell_word(file), own);
}

/// Progress that cannot be saved is told, and changes no verdict.
void remember(const Terminal& terminal, const Workspace& workspace, const LessonReport& report,
              const Fingerprint& judged, const std::string& identity) {
  const fs::path file = progress_file(workspace.toolchain().source_dir);
  tell_problem(terminal, update_progress(file, [&](Progress& progress) {
                 record_check(progress, report, judged, identity);
               }));
}

/// The cases of a lesson, a line each with its points.
std::string render_cases(const Terminal& terminal, const Lesson& lesson,
                         const std::vector<ListedCase>& cases) {
  std::string text = wrap(fmt::format("{} {}: {}, {}", lesson.two_digits(), lesson.title,
                                      plural(cases.size(), "case"), count_points(sum_points(cases))),
                          0, terminal.width());
  text = terminal.paint(Style::strong, text.substr(0, text.size() - 1)) + "\n";
  for (const ListedCase& one : cases) {
    constexpr std::size_t kPointsColumns = 12;
    std::string line = wrap(one.name, kPointsColumns, terminal.width());
    text += line.replace(0, kPointsColumns, fmt::format("{:>10}  ", count_points(one.points)));
  }
  return text;
}

std::string to_json(const std::vector<CaseChoice>& choices) {
  nlohmann::json lessons = nlohmann::json::array();
  for (const auto& [lesson, all, chosen] : choices) {
    nlohmann::json list = nlohmann::json::array();
    for (const ListedCase& one : chosen)
      list.push_back({{"name", one.name}, {"tags", one.tags}, {"points", one.points}});
    lessons.push_back({{"number", lesson.number}, {"name", lesson.name}, {"cases", list}});
  }
  return nlohmann::json{{"version", 1}, {"lessons", lessons}}.dump(2) + "\n";
}

/// `--list`: what there is, or what of it `--case` chooses.
int show_cases(const Terminal& terminal, Workspace& workspace, const CheckArguments& arguments) {
  const std::vector<Lesson> lessons = workspace.select(arguments.lessons);
  require_writable("--json", arguments.json);
  workspace.make_ready(lessons);
  const std::vector<CaseChoice> choices = choose_cases(workspace.toolchain(), lessons, arguments.test_case);
  if (arguments.json != "-")
    for (const auto& [lesson, all, chosen] : choices)
      fmt::print("{}", render_cases(terminal, lesson, chosen));
  write_result(arguments.json, to_json(choices));
  return kAllPassed;
}

/// Makes the options run the cases that `--case` chooses. Returns what is to be said of them.
std::string run_only(const CaseChoice& choice, Lesson& lesson, CheckOptions& options) {
  options.only_cases.clear();
  for (const ListedCase& one : choice.chosen) options.only_cases.push_back(one.name);
  const int of_part = sum_points(choice.chosen);
  const std::string words = fmt::format(
      "Only {} of {} cases: {} of the lesson's {} {} theirs. Progress stays as it was; ./course check {} "
      "runs all.",
      choice.chosen.size(), choice.all.size(), of_part, count_points(lesson.points),
      of_part == 1 ? "is" : "are", lesson.two_digits());
  lesson.points = of_part;
  return words;
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
  if (arguments.list) return show_cases(terminal, workspace, arguments);
  std::vector<KernelSource> kernels =
      choose_kernels(workspace, arguments.lessons, arguments.solution, arguments.file);
  require_writable("--json", arguments.json);
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

  const bool for_people = arguments.json != "-", part = !arguments.test_case.empty();
  std::vector<CaseChoice> choices;
  if (part) {
    choices = choose_cases(workspace.toolchain(), lessons, arguments.test_case);
    std::erase_if(kernels, [&](const KernelSource& kernel) {
      return std::none_of(choices.begin(), choices.end(), [&](const CaseChoice& choice) {
        return choice.lesson.number == kernel.lesson.number;
      });
    });
  }
  const bool may_know = own_files && !part && !arguments.again && !arguments.verbose && !arguments.sanitize &&
                        arguments.json.empty() && arguments.seed == 0;
  const Progress progress =
      own_files ? load_progress(progress_file(workspace.toolchain().source_dir)) : Progress{};
  if (progress.kept) tell_problem(terminal, progress.problem);  // what cannot be kept, remember() tells
  std::vector<LessonReport> reports;
  KernelQueue queue(workspace.toolchain(), kernels, options);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    Lesson lesson = kernels[i].lesson;
    const std::string of_part = part ? run_only(choices[i], lesson, options) : "";
    terminal.show_progress(fmt::format("{} compiling", lesson.id()), i, kernels.size());
    const KernelBuilds builds = queue.take(i);
    std::string tool;  // that runs now, and a blank
    options.on_case = [&](int done) {
      terminal.show_progress(fmt::format("{} {}{} cases done", lesson.id(), tool, done), i, kernels.size());
    };
    options.on_case(0);
    const std::string identity = own_files && builds.run.ok() && arguments.seed == 0
                                     ? identify(workspace.toolchain(), lesson, options.backend, builds)
                                     : "";
    const bool known = may_know && has_passed(progress, lesson, identity);
    reports.push_back(known ? passed_before(lesson, kernels[i].file)
                            : check_kernel(workspace.toolchain(), lesson, kernels[i].file, builds, options));
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
      if (known)
        fmt::print("{}", wrap(fmt::format("{} (--again runs them).", kPassedBefore), 2, terminal.width()));
      if (part) fmt::print("{}", wrap(of_part, 2, terminal.width()));
      if (own_files && !part && kernels.size() == 1 && report.verdict == Verdict::pass)
        fmt::print("{}", wrap(next_step(workspace, lesson), 2, terminal.width()));
      if (!arguments.file.empty() && !part && report.verdict == Verdict::pass)
        fmt::print("{}", wrap(how_to_keep(lesson, arguments.file), 2, terminal.width()));
      std::fflush(stdout);
    }
    if (own_files && !part) remember(terminal, workspace, report, judged[i], identity);
  }
  if (for_people && reports.size() > 1) fmt::print("{}", render_summary(terminal, reports));
  write_result(arguments.json, to_json(reports, options.backend));
  const bool all = std::all_of(reports.begin(), reports.end(),
                               [](const LessonReport& r) { return r.verdict == Verdict::pass; });
  return all ? kAllPassed : kSomethingFailed;
}

}  // namespace course::cli
