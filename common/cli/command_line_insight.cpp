// Commands that show what a kernel does.

#include "cli/command_line.hpp"
#include "cli/commands.hpp"

namespace course::cli {
namespace {

void describe_simulate(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<SimulateArguments>(
      app, "simulate", "runs a CUDA program of your own without a GPU", run_simulate, chosen);
  command->add_option("FILE", arguments.file, "the program's source, with its main()")->required();
  command->add_option("ARGUMENTS", arguments.words, "go to the program, after --");
  command->add_option("-I", arguments.include_folders, "folder with headers")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  command->add_option("-D", arguments.definitions, "macro")->type_name("NAME=VALUE")->allow_extra_args(false);
  command->add_option("--std", arguments.standard, "c++17, c++20 ...; also as -std=c++17")
      ->type_name("STANDARD");
  command->add_option("--arch", arguments.architecture, "sets __CUDA_ARCH__ in kernels; also as -arch=sm_80")
      ->type_name("SM");
  for (const auto& [name, list] : {std::pair{"-U", &arguments.undefinitions},
                                   {"--also", &arguments.also},
                                   {"--library", &arguments.libraries},
                                   {"--ignored", &arguments.ignored},
                                   {"--argument", &arguments.arguments}})
    command->add_option(name, *list)->allow_extra_args(false)->group("");
  command->add_flag("--check", arguments.check, "names mistakes and their lines");
  command->add_flag("--profile", arguments.profile, "counts memory traffic, line by line");
  command->add_option("--report", arguments.report, "writes findings and counts there as JSON")
      ->type_name("FILE");
  command->add_option("--trace", arguments.trace, "writes one block's accesses there as JSON")
      ->type_name("FILE");
  command->add_option("--at", arguments.at, "of block: launch,x,y,z or launch,x,y,z,warp")
      ->type_name("PLACE");
  command
      ->add_option("--order", arguments.order,
                   "of blocks, warps and lanes; with --check or --profile, of streams alone")
      ->check(CLI::IsMember({"forward", "reverse", "random"}));
  command->add_option("--seed", arguments.seed, "of the random order")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--device", arguments.device, "whose limits apply")
      ->check(CLI::IsMember({"t4", "rtx4090", "a100", "h200"}));
  command->add_option("--seconds", arguments.seconds, "after which a kernel counts as endless")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->footer(
      "Examples:\n"
      "  ./course simulate idea.cu\n"
      "  ./course simulate --check idea.cu -- 1024 verbose\n"
      "  ./course simulate main.cu kernels.cu util.cpp -I include -DN=64 -- 1024\n"
      "  ./course simulate --profile idea.cu 2>profile.txt\n"
      "  ./course simulate --trace trace.json --at 0,2,0,0 idea.cu\n"
      "Exit status: the program's own, but 1 for 0 if a kernel failed or --check\n"
      "found an error.");
}

/// What only the simulator sees. Whoever says so everywhere may say so here.
void add_simulator_only(CLI::App* command) {
  const std::string what = "cpu: the simulator is what counts and records";
  command->add_option("--backend", what)->check(CLI::IsMember({"cpu", "auto"}));
}

void describe_profile(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<ProfileArguments>(
      app, "profile", "counts memory traffic of a kernel, line by line", run_profile, chosen);
  command->add_option("LESSON", arguments.lesson, "number (9, 09) or name")->required();
  command->add_flag("--solution", arguments.solution, "profiles the worked solution, not your file");
  command->add_option("--file", arguments.file, "profiles this file in place of yours")->type_name("FILE");
  command->add_option("--case", arguments.test_case, "the case with this in its name, not the largest")
      ->type_name("WORDS");
  command->add_flag("--all", arguments.all, "all launches, not each kernel's largest");
  add_simulator_only(command);
  command->add_option("--json", arguments.json, "writes the counts there, too; - is stdout")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  ./course profile 01\n"
      "  ./course profile 01 --solution --json counts.json\n"
      "  ./course profile 01 --case \"several blocks\" --all");
}

void add_trace_options(CLI::App* command, TraceArguments& arguments, const std::string& traces) {
  command->add_option("LESSON", arguments.lesson, kOneLessonHelp)->required();
  command->add_flag("--solution", arguments.solution, traces + " the worked solution, not your file");
  command->add_option("--file", arguments.file, traces + " this file in place of yours")->type_name("FILE");
  command->add_option("--case", arguments.test_case, "only test cases with this in their name")
      ->type_name("WORDS");
  command->add_option("--at", arguments.at, "launch,x,y,z or launch,x,y,z,warp")
      ->type_name("PLACE")
      ->capture_default_str();
  add_simulator_only(command);
}

void describe_trace(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<TraceArguments>(
      app, "trace", "writes every access of one block, as JSON", run_trace, chosen);
  add_trace_options(command, arguments, "traces");
  command->add_option("--out", arguments.out, "where the trace goes; - is stdout")
      ->type_name("FILE")
      ->required();
  command->footer(
      "Examples:\n"
      "  ./course trace 01 --out trace.json\n"
      "  ./course trace 01 --solution --at 0,1,0,0,7 --out warp.json");
}

void describe_draw(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] =
      add_command<DrawArguments>(app, "draw", "draws what one block of a kernel touched", run_draw, chosen);
  add_trace_options(command, arguments.trace, "draws");
  command->add_option("--step", arguments.step, "only this step of the trace, from 0")
      ->type_name("NUMBER")
      ->check(whole_number(0));
  command->add_option("--out", arguments.trace.out, "where the SVG goes; - is stdout; else NN_name.svg")
      ->type_name("FILE");
  command->add_flag("--fragments", arguments.fragments,
                    "which lane holds what for tensor cores; of no kernel");
  command->add_flag("--open", arguments.open, "opens the picture, if this is a terminal");
  command->footer(
      "Without --case it takes the first call that launches the block, often a small\n"
      "one. Steps are counted as in the trace that ./course trace writes.\n"
      "Examples:\n"
      "  ./course draw 01\n"
      "  ./course draw 02 --solution --case \"without bank conflicts\" --open\n"
      "  ./course draw 09 --solution --case \"every 64 queries\"\n"
      "  ./course draw 21 --fragments\n"
      "  ./course draw 22 --fragments");
}

}  // namespace

void describe_insight_commands(CLI::App& app, Chosen& chosen) {
  describe_simulate(app, chosen);
  describe_profile(app, chosen);
  describe_trace(app, chosen);
  describe_draw(app, chosen);
}

}  // namespace course::cli
