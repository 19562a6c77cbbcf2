// Commands that a learner lives with.

#include "cli/command_line.hpp"
#include "cli/commands.hpp"

namespace course::cli {
namespace {

void describe_list(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<ListArguments>(
      app, "list", "shows the lessons and what you have reached", run_list, chosen);
  command->add_flag("--json", arguments.json, "for programs");
}

}  // namespace

void describe_learning_commands(CLI::App& app, Chosen& chosen) { describe_list(app, chosen); }

}  // namespace course::cli
