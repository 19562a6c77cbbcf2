// `course` and `course-staff`: the command that was given, and how it ended.

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/complete.hpp"
#include "cli/help.hpp"
#include "cli/nvcc_words.hpp"
#include "cli/workspace.hpp"
#include "cli/wrong_option.hpp"
#include "grading/base/near_names.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/project/lesson.hpp"

namespace course::cli {
namespace {

constexpr std::string_view kHelp = "help";  // `help check` is `check --help`

void say(const Terminal& terminal, const std::string& message) {
  terminal.clear_progress();
  // Not by fmt, which would throw if stderr is a terminal that was closed.
  std::fputs(wrap("course: " + message, 0, terminal.width()).c_str(), stderr);
}

/// CLI11 would only say that a subcommand is required.
void require_known_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2)
    throw UsageError("Say what to do, as in ./course check 01. `./course --help` lists the commands.");
  if (argv[1][0] == '-' || argv[1] == kHelp) return;
  std::vector<grading::Candidate> known;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == argv[1]) return;
    known.push_back({command->get_name(), command->get_name()});
  }
  const std::string near = grading::near_names(argv[1], known);
  throw UsageError(fmt::format("There is no command {}.{} `./course --help` lists the commands.", argv[1],
                               near.empty() ? "" : " Did you mean " + near + "?"));
}

int run_command_line(const Terminal& terminal, int argc, char** argv) {
  CLI::App app{"Usage: ./course [--yes] COMMAND ...    --yes installs what is missing unasked"};
  app.name("./course");
  app.formatter(std::make_shared<Help>());
  app.require_subcommand(1);
  app.footer(
      "Examples: ./course check 01    ./course check --help    ./course explain race\n"
      "Exit status: 0 passed, 1 failed, 2 wrong usage, 3 the machine lacks something");
  Chosen chosen;
  describe_learning_commands(app, chosen);
  describe_kernel_commands(app, chosen);
  describe_insight_commands(app, chosen);
  describe_project_commands(app, chosen);
  if (argc >= 2 && argv[1] == kCompleteCommand) {
    print_completions(app, {argv + 2, argv + argc});
    return kAllPassed;
  }
  require_known_command(app, argc, argv);
  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    if (words.front() == kHelp) {
      words.erase(words.begin());
      words.emplace_back("--help");
    }
    if (words.front() == "simulate") {
      words = spell_out_nvcc_words({words.begin() + 1, words.end()});
      words.insert(words.begin(), "simulate");
    }
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw UsageError(wrong_option(app, error));
    app.exit(error);  // --help is a ParseError, too
    return kAllPassed;
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
