// `course`: checks what a student wrote, and does for authors what lessons need.

#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "cli/command_line.hpp"
#include "cli/workspace.hpp"
#include "grading/lesson.hpp"
#include "grading/subprocess.hpp"

namespace course::cli {
namespace {

void say(const Terminal& terminal, const std::string& message) {
  terminal.clear_progress();
  // Not by fmt, which would throw if stderr is a terminal that was closed.
  std::fputs(wrap("course: " + message, 0, terminal.width()).c_str(), stderr);
}

/// CLI11 would only say that a subcommand is required.
void require_known_command(const CLI::App& app, int argc, char** argv) {
  if (argc >= 2 && argv[1][0] == '-') return;
  std::string known;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (argc >= 2 && command->get_name() == argv[1]) return;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  if (argc < 2)
    throw UsageError(fmt::format("Say what to do: {}. `./course --help` tells what each does.", known));
  throw UsageError(fmt::format("There is no command {}. Commands are {}.", argv[1], known));
}

int run_command_line(const Terminal& terminal, int argc, char** argv) {
  CLI::App app{"FlashAttention, kernel by kernel: check, run and list the lessons"};
  app.name("./course");
  app.require_subcommand(1);
  app.footer(
      "With --yes, anywhere on the line, missing packages are installed without asking.\n"
      "Exit status: 0 all passed, 1 something failed, 2 wrong usage, 3 the machine lacks something.");
  Chosen chosen;
  describe_learning_commands(app, chosen);
  describe_kernel_commands(app, chosen);
  describe_insight_commands(app, chosen);
  describe_project_commands(app, chosen);
  require_known_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kAllPassed : kWrongUsage;  // --help is a ParseError with status 0
  }
  grading::install_interrupt_handler();
  return chosen(terminal);
}

}  // namespace
}  // namespace course::cli

int main(int argc, char** argv) {
  using namespace course;
  const cli::Terminal terminal;
  try {
    return cli::run_command_line(terminal, argc, argv);
  } catch (const grading::Interrupted& interrupted) {
    cli::say(terminal, "interrupted");
    return 128 + interrupted.signal;
  } catch (const grading::UnknownLesson& error) {
    cli::say(terminal, error.what());
    return cli::kWrongUsage;
  } catch (const cli::UsageError& error) {
    cli::say(terminal, error.what());
    return cli::kWrongUsage;
  } catch (const std::exception& error) {  // grading::MachineError, and whatever nobody thought of
    cli::say(terminal, error.what());
    return cli::kMachineLacks;
  }
}
