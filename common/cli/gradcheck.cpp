#include <fmt/core.h>

#include <algorithm>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/one_kernel.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {
namespace {

using namespace course::grading;

/// @throws UsageError that names the lessons that have gradients
void require_gradients(const Workspace& workspace, const Lesson& lesson) {
  if (lesson.gradients) return;
  std::vector<Lesson> others = workspace.lessons();
  std::erase_if(others, [](const Lesson& other) { return !other.gradients; });
  throw UsageError(
      fmt::format("Lesson {} has no gradients to check; {}.", lesson.two_digits(),
                  others.empty() ? "nor has any other yet" : "these have: " + numbers_of(others)));
}

/// Wraps each line at its own indentation.
std::string wrap_lines(const std::string& text, std::size_t width) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    result +=
        indent == std::string::npos ? "\n" : wrap(line.substr(indent), std::min(indent, width / 2), width);
  }
  return result;
}

}  // namespace

int run_gradcheck(const Terminal& terminal, const GradcheckArguments& arguments) {
  Workspace workspace(terminal);
  KernelSource kernel =
      choose_one_kernel(workspace, "gradcheck", arguments.lesson, arguments.solution, arguments.file);
  kernel.purpose = Purpose::outputs;
  require_gradients(workspace, kernel.lesson);
  const CheckOptions options = workspace.choose_backend(arguments.backend);
  const BuildOutcome build = build_one_kernel(terminal, workspace, kernel, options).run;
  if (!build.ok()) {
    fmt::print(stderr, "{}", wrap(build.message, 0, terminal.width()));
    return kSomethingFailed;
  }
  Command command;
  command.arguments = test_command(workspace.toolchain(), kernel.lesson, build.library, options.backend);
  command.arguments.insert(command.arguments.end(), {"--gradcheck", "--seed", std::to_string(arguments.seed),
                                                     "--cases", std::to_string(arguments.cases)});
  for (const std::string& setting : arguments.settings)
    command.arguments.insert(command.arguments.end(), {"--set", setting});
  command.directory = workspace.toolchain().source_dir;
  terminal.show_progress(kernel.lesson.id() + " checking gradients", 0, 0);
  const CommandResult result = run_command(command);
  terminal.clear_progress();
  const bool judged = result.signal == 0 && result.exit_code <= kSomethingFailed;
  fmt::print(judged ? stdout : stderr, "{}", wrap_lines(result.output, terminal.width()));
  if (result.signal == 0) return result.exit_code;
  fmt::print(stderr, "The check was ended by signal {}.\n", result.signal);
  return kSomethingFailed;
}

}  // namespace course::cli
