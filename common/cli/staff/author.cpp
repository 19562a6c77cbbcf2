// The commands for those who write lessons: build, judge, test.

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <thread>

#include "cli/commands.hpp"
#include "cli/kernel_queue.hpp"
#include "cli/one_kernel.hpp"
#include "cli/staff/judge_kernel.hpp"
#include "cli/workspace.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/judging/judge.hpp"
#include "grading/project/gpu_probe.hpp"

namespace course::cli {
namespace {

using namespace course::grading;

/// Compiling for a GPU needs none. Whether a kernel compiles at all, one architecture tells: those of the
/// course ask for none. What is to be loaded is compiled for the GPU that is here, if one is.
CheckOptions choose_compiler(const Workspace& workspace, const BuildArguments& arguments) {
  const bool any = arguments.backend == "gpu" && workspace.toolchain().gpu;
  if (!any || (arguments.paths && probe_gpu().answers)) return workspace.choose_backend(arguments.backend);
  CheckOptions options;
  options.backend = Backend::gpu;
  options.architectures = workspace.toolchain().gpu->architectures;
  if (arguments.quick) options.architectures.resize(1);  // each would take the same time again
  return options;
}

/// The variants that --only names, or all; the words it names are taken off `unused`.
std::vector<Variant> choose_variants(const Lesson& lesson, const std::vector<std::string>& only,
                                     std::set<std::string>& unused) {
  std::vector<Variant> variants = variants_of(lesson);
  if (only.empty()) return variants;
  std::erase_if(variants, [&](const Variant& variant) {
    for (const std::string& word : only) {
      if (word != variant.name && word != variant.name.substr(0, variant.name.find('/'))) continue;
      unused.erase(word);
      return false;
    }
    return true;
  });
  return variants;
}

void print_judgement(const Terminal& terminal, const Lesson& lesson, const Variant& variant,
                     const Judgement& judgement) {
  fmt::print("{}  {} {} {}\n",
             terminal.paint(judgement.as_expected ? Style::good : Style::bad,
                            judgement.as_expected ? "ok  " : "FAIL"),
             lesson.two_digits(), variant.name, judgement.reason);
  std::fflush(stdout);
}

}  // namespace

int run_build(const Terminal& terminal, const BuildArguments& arguments) {
  Workspace workspace(terminal);
  std::vector<KernelSource> kernels =
      choose_kernels(workspace, arguments.lessons, arguments.solution, arguments.file);
  const CheckOptions options = choose_compiler(workspace, arguments);
  std::vector<Lesson> lessons;
  for (KernelSource& kernel : kernels) {
    kernel.purpose = Purpose::outputs;
    kernel.quickly = arguments.quick;
    lessons.push_back(kernel.lesson);
  }
  workspace.make_ready(lessons);
  KernelQueue queue(workspace.toolchain(), kernels, options);
  bool all = true;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    terminal.show_progress(fmt::format("compiling {}", kernels[i].lesson.id()), i, kernels.size());
    const BuildOutcome build = queue.take(i).run;
    terminal.clear_progress();
    all = all && build.ok();
    const std::string how = build.from_cache ? "unchanged" : fmt::format("{:.1f} s", build.seconds);
    const std::string where = arguments.paths && build.ok() ? "  " + build.library.string() : "";
    fmt::print("{}  {}  {}{}\n",
               terminal.paint(build.ok() ? Style::good : Style::bad, build.ok() ? "ok  " : "FAIL"),
               kernels[i].lesson.id(), how, where);
    fmt::print("{}", wrap(build.message, 6, terminal.width()));
  }
  return all ? kAllPassed : kSomethingFailed;
}

int run_judge(const Terminal& terminal, const JudgeArguments& arguments) {
  Workspace workspace(terminal);
  const auto lessons = workspace.select(arguments.lessons);
  const CheckOptions options = workspace.choose_backend(arguments.backend);

  std::set<std::string> unused(arguments.only.begin(), arguments.only.end());
  std::vector<KernelSource> kernels;
  std::vector<Variant> variants;
  bool all = true;
  for (const Lesson& lesson : lessons) {
    for (const Variant& variant : choose_variants(lesson, arguments.only, unused)) {
      try {
        const auto file = kernel_of(variant, lesson, workspace.toolchain().binary_dir / "mutants");
        kernels.push_back(arguments.quick ? quick_source(lesson, variant, file, options.backend)
                                          : KernelSource{lesson, file});
        variants.push_back(variant);
      } catch (const std::runtime_error& problem) {
        all = false;
        print_judgement(terminal, lesson, variant, {false, problem.what()});
      }
    }
  }
  if (!unused.empty())
    throw UsageError(fmt::format("--only {}: no lesson named here has one.", *unused.begin()));
  workspace.make_ready(lessons);

  while (!kernels.empty()) {  // again for those that take check mode, so that they are compiled together
    KernelQueue queue(workspace.toolchain(), kernels, options);
    std::vector<KernelSource> unsettled;
    std::vector<Variant> their_variants;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const Lesson& lesson = kernels[i].lesson;
      terminal.show_progress(fmt::format("{} {}", lesson.id(), variants[i].name), i, kernels.size());
      const std::optional<Judgement> judgement =
          judge_kernel(workspace.toolchain(), queue, i, kernels[i], variants[i], options, arguments.quick);
      terminal.clear_progress();
      if (judgement) {
        all = all && judgement->as_expected;
        print_judgement(terminal, lesson, variants[i], *judgement);
        continue;
      }
      kernels[i].purpose = Purpose::outputs_and_check;
      unsettled.push_back(kernels[i]);
      their_variants.push_back(variants[i]);
    }
    kernels = std::move(unsettled);
    variants = std::move(their_variants);
  }
  return all ? kAllPassed : kSomethingFailed;
}

int run_test(const Terminal& terminal, const TestArguments& arguments) {
  Workspace workspace(terminal);
  workspace.make_all();
  // Two more at a time than there are cores: the longest wait for a browser, a time limit or a terminal.
  const unsigned at_a_time = std::max(1u, std::thread::hardware_concurrency()) + 2;
  Command command;
  command.arguments = {workspace.toolchain().ctest.string(),
                       "--test-dir",
                       workspace.toolchain().binary_dir.string(),
                       "--output-on-failure",
                       "--no-tests=error",
                       "--parallel",
                       std::to_string(at_a_time)};
  if (!arguments.filter.empty())
    command.arguments.insert(command.arguments.end(), {"--tests-regex", arguments.filter});
  command.environment = {
      fmt::format("{}={}", Workspace::kMadeVariable, workspace.toolchain().binary_dir.string())};
  command.inherit_output = true;
  return run_command(command).ok() ? kAllPassed : kSomethingFailed;
}

}  // namespace course::cli
