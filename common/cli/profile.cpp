// What a lesson's kernel makes the memory and the warps do, line by line.

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "cli/commands.hpp"
#include "cli/one_kernel.hpp"
#include "grading/facts/words.hpp"
#include "simt/report/document.hpp"
#include "simt/report/json.hpp"
#include "simt/report/text.hpp"

namespace course::cli {
namespace {

using namespace course::grading;

/// Steps of the largest launch: a hundred small ones would show less.
std::uint64_t work_of(const std::vector<simt::LaunchProfile>& launches) {
  std::uint64_t steps = 0;
  for (const simt::LaunchProfile& launch : launches) steps = std::max(steps, launch.total.steps);
  return steps;
}

/// The case with the largest launch, among those whose name has `part` in it; null if none was counted.
const CaseResult* choose_case(const std::vector<CaseResult>& cases, const std::string& part) {
  const CaseResult* chosen = nullptr;
  for (const CaseResult& one : cases) {
    if (one.launches.empty() || one.name.find(part) == std::string::npos) continue;
    if (chosen == nullptr || work_of(one.launches) > work_of(chosen->launches)) chosen = &one;
  }
  return chosen;
}

/// Of each kernel, the launch with the most threads.
std::vector<simt::LaunchProfile> largest_launches(const std::vector<simt::LaunchProfile>& launches) {
  const auto threads = [](const simt::LaunchProfile& launch) {
    std::uint64_t count = 1;
    for (const auto& shape : {launch.grid, launch.block})
      for (const unsigned extent : shape) count *= extent;
    return std::tuple(count, launch.total.steps);
  };
  std::vector<simt::LaunchProfile> chosen;
  for (const simt::LaunchProfile& launch : launches) {
    const auto same = std::find_if(chosen.begin(), chosen.end(),
                                   [&](const auto& other) { return other.kernel == launch.kernel; });
    if (same == chosen.end()) {
      chosen.push_back(launch);
    } else if (threads(launch) > threads(*same)) {
      *same = launch;
    }
  }
  return chosen;
}

/// Why nothing was counted.
/// @throws UsageError if other cases were
std::string explain_nothing(const LessonReport& report, const ProfileArguments& arguments) {
  if (!report.error.empty()) return report.error;
  if (!report.not_checked.empty()) return report.not_checked;
  const bool any = choose_case(report.cases, "") != nullptr;
  if (any && !arguments.test_case.empty()) {
    std::string text =
        fmt::format("No case whose name contains \"{}\" was counted. Those that were:", arguments.test_case);
    for (const CaseResult& one : report.cases)
      if (!one.launches.empty()) text += "\n  " + one.name;
    throw UsageError(text);
  }
  const auto failed = std::find_if(report.cases.begin(), report.cases.end(),
                                   [](const CaseResult& one) { return !one.passed; });
  return "There is nothing to count: no kernel ran to its end in check mode." +
         (failed == report.cases.end() ? "" : "\n" + to_words(*failed, report.cause));
}

std::string profile_json(const Lesson& lesson, const CaseResult& one) {
  std::vector<simt::report::Json> launches;
  for (const simt::LaunchProfile& launch : one.launches) launches.push_back(simt::report::to_json(launch));
  return simt::report::document({{"version", 1}, {"lesson", lesson.id()}, {"case", one.name}},
                                {{"launches", std::move(launches)}});
}

std::string profile_page(const Terminal& terminal, const LessonReport& report, const CaseResult& one,
                         const ProfileArguments& arguments) {
  const auto launches = arguments.all ? one.launches : largest_launches(one.launches);
  std::string text =
      wrap(fmt::format("Lesson {}, case \"{}\"", report.lesson.two_digits(), one.name), 0, terminal.width());
  const bool has_error = std::any_of(one.findings.begin(), one.findings.end(),
                                     [](const Finding& d) { return d.severity == Severity::error; });
  if (has_error || !one.passed)
    text +=
        wrap(fmt::format("This case fails, so the counts are those of a wrong kernel. ./course check {} says "
                         "what is wrong.",
                         report.lesson.two_digits()),
             0, terminal.width());
  if (const std::size_t left = one.launches.size() - launches.size(); left > 0)
    text += wrap(fmt::format("The largest launch of each kernel; --all shows {} more.", left), 0,
                 terminal.width());
  return text + "\n" +
         simt::report::profile_text(launches, report.lesson.root, {terminal.width(), terminal.colours()});
}

}  // namespace

int run_profile(const Terminal& terminal, const ProfileArguments& arguments) {
  Workspace workspace(terminal);
  const KernelSource kernel =
      choose_one_kernel(workspace, "profile", arguments.lesson, arguments.solution, arguments.file);
  require_writable("--json", arguments.json);
  CheckOptions options = workspace.choose_backend("cpu");
  const KernelBuilds builds = build_one_kernel(terminal, workspace, kernel, options);
  options.on_case = [&](int done) {
    terminal.show_progress(fmt::format("{} {} cases done", kernel.lesson.id(), done), 0, 0);
  };
  const LessonReport report =
      check_kernel(workspace.toolchain(), kernel.lesson, kernel.file, builds, options);
  terminal.clear_progress();

  const CaseResult* const chosen = choose_case(report.cases, arguments.test_case);
  if (chosen == nullptr) {
    fmt::print(stderr, "{}", wrap(explain_nothing(report, arguments), 0, terminal.width()));
    return kSomethingFailed;
  }
  if (arguments.json != "-") fmt::print("{}", profile_page(terminal, report, *chosen, arguments));
  write_result(arguments.json, profile_json(kernel.lesson, *chosen));
  return kAllPassed;
}

}  // namespace course::cli
