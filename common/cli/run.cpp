#include <fmt/core.h>

#include "cli/commands.hpp"
#include "cli/one_kernel.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

void require_folders(const RunArguments& arguments) {
  if (!fs::is_directory(arguments.in))
    throw UsageError(fmt::format("--in {}: there is no such folder.", arguments.in));
  std::error_code error;
  fs::create_directories(arguments.out, error);
  if (error)
    throw UsageError(fmt::format("--out {}: cannot make that folder: {}.", arguments.out, error.message()));
}

}  // namespace

int run_run(const Terminal& terminal, const RunArguments& arguments) {
  Workspace workspace(terminal);
  KernelSource kernel =
      choose_one_kernel(workspace, "run", arguments.lesson, arguments.solution, arguments.file);
  kernel.purpose = Purpose::outputs;
  require_folders(arguments);
  const CheckOptions options = workspace.choose_backend(arguments.backend);
  const BuildOutcome build = build_one_kernel(terminal, workspace, kernel, options).run;
  if (!build.ok()) {
    fmt::print(stderr, "{}", wrap(build.message, 0, terminal.width()));
    return kSomethingFailed;
  }
  Command command;
  command.arguments = test_command(workspace.toolchain(), kernel.lesson, build.library, options.backend);
  command.arguments.insert(command.arguments.end(), {"--run", "--in", fs::absolute(arguments.in), "--out",
                                                     fs::absolute(arguments.out)});
  for (const std::string& setting : arguments.settings)
    command.arguments.insert(command.arguments.end(), {"--set", setting});
  command.directory = workspace.toolchain().source_dir;
  command.inherit_output = true;
  const CommandResult result = run_command(command);
  if (result.signal != 0) {
    fmt::print(stderr, "The run was ended by signal {}.\n", result.signal);
    return kSomethingFailed;
  }
  return result.exit_code;
}

}  // namespace course::cli
