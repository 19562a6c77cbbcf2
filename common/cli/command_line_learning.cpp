// Commands that a learner lives with.

#include "cli/command_line.hpp"
#include "cli/commands.hpp"

namespace course::cli {
namespace {

void describe_watch(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<WatchArguments>(
      app, "watch", "checks your file each time you save it, until you quit", run_watch, chosen);
  command->add_option("LESSON", arguments.lesson, "number (9, 09) or name; else the one you are at");
  command->add_option("--file", arguments.file, "watches this file in place of yours")->type_name("FILE");
  add_backend(command, arguments.backend);
  command->footer(
      "Keys: h hint, f next failed case, n next lesson, l list, c clear, r run again,\n"
      "q quit, ? shows them.\n"
      "Where only one of input and output is a terminal there are no keys, or each\n"
      "check writes one block of text; where neither is, it ends: use check.\n"
      "Examples:\n"
      "  ./course watch           the lesson that you are at\n"
      "  ./course watch 09        lesson 09\n"
      "  ./course watch 09 --file idea.cu");
}

void describe_list(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<ListArguments>(
      app, "list", "shows the lessons and what you have reached", run_list, chosen);
  command->add_flag("--json", arguments.json, "for programs");
  command->add_flag("--verify", arguments.verify, "first checks again what changed since it passed");
  command->footer(
      "What you have reached is in progress.json beside ./course, or in the file that\n"
      "COURSE_PROGRESS names. Without that file you begin anew; no lesson is touched.\n"
      "Examples:\n"
      "  ./course list\n"
      "  ./course list --verify");
}

void describe_hint(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<HintArguments>(
      app, "hint", "shows the next hint of a lesson, one at a time", run_hint, chosen);
  command->add_option("LESSON", arguments.lesson, "number (9, 09) or name; else the one you are at");
  command->add_option("N", arguments.step, "shows hint N again")->check(whole_number(1));
  command->footer(
      "Hints go from a nudge to the key line. The course remembers which were shown.\n"
      "Examples:\n"
      "  ./course hint        the next hint of the lesson that you are at\n"
      "  ./course hint 09     the next hint of lesson 09\n"
      "  ./course hint 09 1   the first hint again");
}

void describe_solution(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<SolutionArguments>(
      app, "solution", "compares a file that passes with the worked solution", run_solution, chosen);
  command->add_option("LESSON", arguments.lesson, kOneLessonHelp)->required();
  command->add_flag("--spoil", arguments.spoil, "shows it now, passed or not");
  command->add_flag("--whole", arguments.whole, "prints the solution's file, not a comparison");
  command->footer(
      "Lines with - are yours, lines with + are the solution's.\n"
      "Examples:\n"
      "  ./course solution 09\n"
      "  ./course solution 09 --spoil --whole\n"
      "Exit status: 0 it was shown, 1 the lesson has not passed, 2 wrong usage.");
}

void describe_reset(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<ResetArguments>(
      app, "reset", "puts a lesson's stub back, and keeps your file", run_reset, chosen);
  command->add_option("LESSON", arguments.lesson, kOneLessonHelp)->required();
  command->footer(
      "Your file stays beside the stub, with .kept after its name, or .kept2 and so on\n"
      "if that is taken. What you have reached is still remembered.\n"
      "Examples:\n"
      "  ./course reset 01");
}

void describe_explain(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<ExplainArguments>(
      app, "explain", "says what a finding means, with an example and its fix", run_explain, chosen);
  command->add_option("DIAGNOSTIC", arguments.words,
                      "its name, or the beginning of it; none lists all.\n"
                      "A lesson's number shows its notes, followed by\n"
                      "mistakes or gpu these pages of it");
  command->add_flag("--list", arguments.list, "all names, with a line each");
  command->add_flag("--json", arguments.json, "all names and what is known of them, for programs");
  command->footer(
      "Examples:\n"
      "  ./course explain race\n"
      "  ./course explain bank conflict\n"
      "  ./course explain key_tail_missing      a mistake that feedback names\n"
      "  ./course explain the sum so far was not rescaled\n"
      "  ./course explain 01 | less             the notes of lesson 01\n"
      "  ./course explain 01 mistakes           what goes wrong in lesson 01");
}

}  // namespace

void describe_learning_commands(CLI::App& app, Chosen& chosen) {
  describe_watch(app, chosen);
  describe_list(app, chosen);
  describe_hint(app, chosen);
  describe_solution(app, chosen);
  describe_reset(app, chosen);
  describe_explain(app, chosen);
}

}  // namespace course::cli
