// Commands that a learner lives with.

#include "cli/command_line.hpp"
#include "cli/commands.hpp"

namespace course::cli {
namespace {

void describe_list(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<ListArguments>(
      app, "list", "shows the lessons and what you have reached", run_list, chosen);
  command->add_flag("--json", arguments.json, "for programs");
  command->footer(
      "Examples:\n"
      "  ./course list\n"
      "  ./course list --json");
}

void describe_explain(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<ExplainArguments>(
      app, "explain", "says what a finding means, with an example and its fix", run_explain, chosen);
  command->add_option("DIAGNOSTIC", arguments.words, "its name, or the begin of it; none lists all");
  command->add_flag("--list", arguments.list, "all names, with a line each");
  command->footer(
      "Examples:\n"
      "  ./course explain race\n"
      "  ./course explain bank conflict\n"
      "  ./course explain key_tail_missing      a mistake that feedback names");
}

}  // namespace

void describe_learning_commands(CLI::App& app, Chosen& chosen) {
  describe_list(app, chosen);
  describe_explain(app, chosen);
}

}  // namespace course::cli
