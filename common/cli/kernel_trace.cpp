// The accesses of one block of a lesson's kernel, as the simulator records them.

#include "cli/kernel_trace.hpp"

#include <fmt/core.h>

#include "cli/case_names.hpp"
#include "cli/one_kernel.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

/// Catch2's pattern for every test case with that in its name.
std::string pattern_for(const std::string& part) {
  std::string pattern = "*";
  for (const char c : part) {
    if (std::string_view(",[]\\\"*").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return part.empty() ? pattern : pattern + "*";
}

/// Why there is no kernel to trace; empty if there is one.
std::string why_not_built(const KernelBuilds& builds) {
  if (!builds.run.ok()) return builds.run.message;
  if (builds.check && builds.check->ok()) return "";
  return builds.check ? builds.check->message : builds.check_problem;
}

}  // namespace

std::optional<KernelTrace> trace_kernel(const Terminal& terminal, const std::string& command_name,
                                        const TraceArguments& arguments, std::size_t most_steps) {
  Workspace workspace(terminal);
  const KernelSource kernel =
      choose_one_kernel(workspace, command_name, arguments.lesson, arguments.solution, arguments.file);
  require_trace_place("--at", arguments.at);
  require_writable("--out", arguments.out);
  const CheckOptions options = workspace.choose_backend("cpu");
  const KernelBuilds builds = build_one_kernel(terminal, workspace, kernel, options);
  if (const std::string why = why_not_built(builds); !why.empty()) {
    fmt::print(stderr, "{}", wrap(why, 0, terminal.width()));
    return std::nullopt;
  }

  const Toolchain& toolchain = workspace.toolchain();
  choose_cases(toolchain, {kernel.lesson}, arguments.test_case);  // there is one
  const ScratchFolder scratch(toolchain.binary_dir / "kernels");
  const fs::path trace = scratch.path() / "trace.json";
  Command command;
  command.arguments = test_command(toolchain, kernel.lesson, builds.run.library, options.backend);
  command.arguments.insert(command.arguments.end(),
                           {"--check-kernel", builds.check->library, pattern_for(arguments.test_case)});
  command.directory = toolchain.source_dir;
  command.environment = {"SIMT_TRACE=" + trace.string(), "SIMT_TRACE_AT=" + arguments.at,
                         fmt::format("SIMT_TRACE_STEPS={}", most_steps)};
  command.enough = [&] { return fs::exists(trace); };  // it appears whole
  terminal.show_progress(kernel.lesson.id() + " running", 0, 0);
  (void)run_command(command);  // whether the tests pass is not the question
  terminal.clear_progress();
  if (!fs::exists(trace)) {
    const std::string where = arguments.test_case.empty()
                                  ? "No test case"
                                  : fmt::format("No test case named *{}*", arguments.test_case);
    fmt::print(
        stderr, "{}",
        wrap(fmt::format(
                 "{} makes a call in which {} is run in check mode and touches memory. The numbers are "
                 "the launch in that call, the block's x, y and z, and the warp, all from 0.",
                 where, arguments.at),
             0, terminal.width()));
    return std::nullopt;
  }
  return KernelTrace{kernel.lesson, read_file(trace)};
}

}  // namespace course::cli
