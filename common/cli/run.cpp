#include <fmt/core.h>

#include "cli/commands.hpp"
#include "cli/workspace.hpp"
#include "grading/subprocess.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

void require_arguments(const RunArguments& arguments) {
  if (!fs::is_directory(arguments.in))
    throw UsageError(fmt::format("--in {}: there is no such folder.", arguments.in));
  for (const std::string& setting : arguments.settings) {
    const auto equals = setting.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UsageError(fmt::format("--set {}: write it as --set name=value.", setting));
    }
  }
  if (arguments.solution && !arguments.file.empty())
    throw UsageError("--solution and --file exclude each other.");
  if (!arguments.file.empty() && !fs::is_regular_file(arguments.file)) {
    throw UsageError(fmt::format("There is no file {}.", arguments.file));
  }
  std::error_code error;
  fs::create_directories(arguments.out, error);
  if (error)
    throw UsageError(fmt::format("--out {}: cannot make that folder: {}.", arguments.out, error.message()));
}

}  // namespace

int run_run(const Terminal& terminal, const RunArguments& arguments) {
  Workspace workspace(terminal);
  const auto lessons = workspace.select({arguments.lesson});
  if (lessons.size() != 1) throw UsageError("run needs exactly one lesson.");
  const Lesson& lesson = lessons.front();
  require_arguments(arguments);
  const CheckOptions options = workspace.choose_backend(arguments.backend);
  workspace.make_ready(lessons);

  const fs::path source = !arguments.file.empty() ? fs::absolute(arguments.file)
                          : arguments.solution    ? lesson.solution()
                                                  : lesson.stub();
  const BuildOutcome build = build_kernel(workspace.toolchain(), lesson, source, options.backend,
                                          Flavour::run, options.architectures);
  if (!build.ok()) {
    fmt::print(stderr, "{}", wrap(build.message, 0, terminal.width()));
    return kSomethingFailed;
  }
  Command command;
  command.arguments = test_command(workspace.toolchain(), lesson, build.library, options.backend);
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
