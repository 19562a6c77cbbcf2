#include <fmt/core.h>

#include <system_error>

#include "cli/commands.hpp"
#include "cli/workspace.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {

int run_completion(const Terminal& terminal, const CompletionArguments& arguments) {
  const Workspace workspace(terminal);
  grading::Command command;
  command.arguments = {"sh", (workspace.toolchain().source_dir / "scripts/completion.sh").string(),
                       arguments.shell, workspace.toolchain().binary_dir.string()};
  command.inherit_output = true;
  try {
    return run_command(command).ok() ? kAllPassed : kMachineLacks;
  } catch (const std::system_error& error) {
    throw grading::MachineError(fmt::format("The shell sh cannot be started: {}.", error.what()));
  }
}

}  // namespace course::cli
