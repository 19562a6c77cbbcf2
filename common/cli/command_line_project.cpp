// Commands for classes, and for the course itself.

#include "cli/command_line.hpp"
#include "cli/commands.hpp"

namespace course::cli {
namespace {

void describe_grade(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<GradeArguments>(
      app, "grade", "grades what a class handed in, each file in a sandbox", run_grade, chosen);
  command->add_option("SUBMISSIONS", arguments.submissions, "folder or zip: one folder or zip a student")
      ->type_name("FILE")
      ->required();
  command->add_option("--out", arguments.out, "folder for results; a run goes on where it was ended")
      ->type_name("FOLDER")
      ->required();
  command->add_option("--lessons", arguments.lessons, "that count; else all that anybody handed in")
      ->type_name("LESSON");
  command
      ->add_option("--secret-seed", arguments.secret_seed,
                   "number or file: adds hidden cases, worth half of the points")
      ->type_name("FILE");
  command->add_option("--seed", arguments.seed, "of the open cases' data; 0 is what students have")
      ->check(whole_number(0));
  command
      ->add_option("--deadline", arguments.deadline,
                   "\"2026-11-22 17:30\", local time: what is newer is late")
      ->type_name("TIME");
  command->add_option("--late", arguments.late_percent, "percent of its points that a late file gets")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command
      ->add_option("--regrade", arguments.regrade, "student, lesson or all: judges again what has a verdict")
      ->type_name("NAME");
  command->add_option("--canvas", arguments.canvas, "gradebook exported from Canvas, to fill in")
      ->type_name("FILE");
  command->add_option("--moodle", arguments.moodle, "worksheet downloaded from Moodle, to fill in")
      ->type_name("FILE");
  command->add_flag("--similarity", arguments.similarity, "lays the files out for JPlag, in OUT/similarity");
  command->add_option("--jobs", arguments.jobs, "files at a time; else one a core")
      ->check(CLI::Range(1, 256));
  command->add_option("--cluster", arguments.cluster, "has tasks of a cluster judge the files")
      ->check(CLI::IsMember({"slurm"}));
  command->add_option("--tasks", arguments.tasks, "of the cluster; else one for 10 files, at most 200")
      ->check(CLI::Range(1, 100000));
  command->add_option("--part", arguments.part, "3/8: judges the third of eight parts, writes no results")
      ->type_name("K/N");
  command->add_option("--backend", arguments.backend, "where kernels run")
      ->check(CLI::IsMember({"cpu", "gpu"}));
  command->add_option("--isolation", arguments.isolation, "process: weaker, for machines without namespaces")
      ->check(CLI::IsMember({"namespaces", "process"}))
      ->capture_default_str();
  command->add_flag("--as-root", arguments.as_root, "you are root and mean it: files run as the user nobody");
  command->add_flag("--any-words", arguments.any_words)->group("");  // for tests: see docs/grading.md
  command->footer(
      "A file belongs to lesson 01 if it is called 01_vector_add.cu or vector_add.cu,\n"
      "in any folder of its student. Of several, the newest counts.\n"
      "Examples:\n"
      "  ./course grade submissions --out results\n"
      "  ./course grade hw3.zip --out results --lessons 5-7 --secret-seed seed.txt\n"
      "  ./course grade submissions --out results --regrade \"Ada Lovelace\"\n"
      "Exit status: 0 every file was graded, good or bad; 1 the machine kept some from\n"
      "being graded, and the same command again grades them; 2 wrong usage; 3 the\n"
      "machine lacks something. docs/grading.md tells all of it.");
}

void describe_docs(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<DocsArguments>(
      app, "docs", "builds the site, with the lessons as a book", run_docs, chosen);
  command
      ->add_option("--out", arguments.out,
                   "folder for the site, not build/site; an older site there is replaced")
      ->type_name("FOLDER");
  command->footer(
      "Examples:\n"
      "  ./course docs\n"
      "  ./course docs --out ~/site");
}

void describe_test(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] =
      add_command<TestArguments>(app, "test", "builds and runs everything that CI runs", run_test, chosen);
  command->add_option("--filter", arguments.filter, "only tests whose name matches this regular expression")
      ->type_name("REGEX");
  command->footer(
      "Examples:\n"
      "  ./course test --yes\n"
      "  ./course test --filter 05_online_softmax");
}

void describe_completion(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<CompletionArguments>(
      app, "completion", "prints what lets a shell complete ./course", run_completion, chosen);
  command->add_option("SHELL", arguments.shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  command->footer(
      "Commands, options, lessons and diagnostics are completed, for `./course` and\n"
      "`course`. Neither this nor completing builds anything. For all shells to come,\n"
      "put such a line, with the project's full path, into ~/.bashrc or ~/.zshrc.\n"
      "Examples:\n"
      "  eval \"$(./course completion bash)\"\n"
      "  eval \"$(./course completion zsh)\"");
}

void describe_doctor(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<DoctorArguments>(
      app, "doctor", "says what this machine has and lacks for the course", run_doctor, chosen);
  command->add_flag("--json", arguments.json, "for programs");
  command->footer(
      "It compiles and runs a small kernel. Nothing is installed, and nobody is asked.\n"
      "Examples:\n"
      "  ./course doctor\n"
      "  ./course doctor --json\n"
      "Exit status: 0 kernels run, in the simulator or on a GPU; 3 they do not.");
}

}  // namespace

void describe_project_commands(CLI::App& app, Chosen& chosen) {
  describe_grade(app, chosen);
  describe_docs(app, chosen);
  describe_test(app, chosen);
  describe_doctor(app, chosen);
  describe_completion(app, chosen);
}

}  // namespace course::cli
