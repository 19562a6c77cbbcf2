#include <fmt/core.h>

#include "cli/commands.hpp"
#include "cli/workspace.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {

int run_docs(const Terminal& terminal, const DocsArguments& arguments) {
  namespace fs = std::filesystem;
  Workspace workspace(terminal);
  workspace.make_site_ready();
  const grading::Toolchain& toolchain = workspace.toolchain();
  const fs::path out = arguments.out.empty() ? toolchain.binary_dir / "site" : fs::absolute(arguments.out);
  grading::Command command;
  command.arguments = {(toolchain.source_dir / "scripts/build_site.py").string(), "--out", out.string(),
                       "--steps", (toolchain.binary_dir / "bin/export_steps").string()};
  command.inherit_output = true;
  try {
    const grading::CommandResult result = run_command(command);
    if (result.ok()) return kAllPassed;
    return result.exit_code == kMachineLacks ? kMachineLacks : kSomethingFailed;
  } catch (const std::system_error& error) {
    throw grading::MachineError(
        fmt::format("The site is built by a Python program, which cannot be started: {}.", error.what()));
  }
}

}  // namespace course::cli
