// Commands that judge, run and time kernels of lessons.

#include "cli/command_line.hpp"
#include "cli/commands.hpp"

namespace course::cli {
namespace {

void describe_check(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] =
      add_command<CheckArguments>(app, "check", "builds kernels and runs their tests", run_check, chosen);
  command->add_option("LESSON", arguments.lessons, kLessonHelp);
  command->add_flag("--solution", arguments.solution, "checks the worked solution in place of your file");
  command->add_option("--file", arguments.file, "checks this file in place of yours")->type_name("FILE");
  add_backend(command, arguments.backend);
  command->add_option("--json", arguments.json, "also writes the results there; - is standard output")
      ->type_name("FILE");
  command->add_option("--seed", arguments.seed, "of the data, for other numbers than the usual ones")
      ->check(whole_number(0));
  command->add_flag("--sanitize", arguments.sanitize, "also runs them under NVIDIA's tools, on a GPU");
  command->add_option("--case", arguments.test_case, "runs the cases with that in their names, no other")
      ->type_name("WORDS");
  command->add_flag("--list,--list-cases", arguments.list, "lists the cases with their points, runs none");
  command->add_flag("--again", arguments.again, "runs them though this same file has passed");
  command->add_flag("-v,--verbose", arguments.verbose, "shows every failed case in full");
  command->footer(
      "Examples:\n"
      "  ./course check 01\n"
      "  ./course check 09 --case edges\n"
      "  ./course check 1-7 --solution\n"
      "  ./course check 05 --file idea.cu");
}

void describe_run(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] =
      add_command<RunArguments>(app, "run", "runs a kernel on your own .npy arrays", run_run, chosen);
  command->add_option("LESSON", arguments.lesson, kLessonHelp)->required();
  command->add_option("--in", arguments.in, "folder with the inputs, one NAME.npy each")
      ->type_name("FOLDER")
      ->required();
  command->add_option("--out", arguments.out, "folder for the outputs")->type_name("FOLDER")->required();
  add_settings(command, arguments.settings);
  command->add_flag("--solution", arguments.solution, "runs the worked solution in place of your file");
  command->add_option("--file", arguments.file, "runs this file in place of yours")->type_name("FILE");
  add_backend(command, arguments.backend);
  command->footer(
      "Examples:\n"
      "  ./course run 01 --in arrays --out results\n"
      "  ./course run 10 --in arrays --out results --set causal=true --solution");
}

void describe_gradcheck(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<GradcheckArguments>(
      app, "gradcheck", "checks gradients by central differences", run_gradcheck, chosen);
  command->add_option("LESSON", arguments.lesson, "number (14) or name")->required();
  add_settings(command, arguments.settings);
  command->add_option("--cases", arguments.cases, "how many random cases")
      ->check(whole_number(1))
      ->capture_default_str();
  command->add_option("--seed", arguments.seed, "of the first case; each has the next")
      ->check(whole_number(0))
      ->capture_default_str();
  command->add_flag("--solution", arguments.solution, "checks the worked solution, not your file");
  command->add_option("--file", arguments.file, "checks this file in place of yours")->type_name("FILE");
  add_backend(command, arguments.backend);
  command->footer(
      "Examples:\n"
      "  ./course gradcheck 14\n"
      "  ./course gradcheck 15 --set causal=true --cases 10\n"
      "  ./course gradcheck 15 --seed 7 --cases 1\n"
      "Exit status: 0 all gradients are right, 1 one is wrong, 2 wrong usage.");
}

void describe_bench(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<BenchArguments>(
      app, "bench", "times kernels on a GPU, beside the floors it sets", run_bench, chosen);
  command->add_option("LESSON", arguments.lessons, kLessonHelp);
  command->add_flag("--solution", arguments.solution, "times the worked solution in place of your file");
  command->add_option("--file", arguments.file, "times this file in place of yours")->type_name("FILE");
  command->add_option("--backend", arguments.backend, "a GPU: what the simulator takes says nothing")
      ->check(CLI::IsMember({"auto", "cpu", "gpu"}))
      ->capture_default_str();
  command->add_option("--json", arguments.json, "writes the results there, too; - is stdout")
      ->type_name("FILE");
  command->footer(
      "A kernel is timed only if it passes its tests. The floor of a time is what the\n"
      "bytes of the problem take at the rate of a copy, or its operations at that of a\n"
      "float32 matrix product, both measured first; the longer of the two counts.\n"
      "Examples:\n"
      "  ./course bench 09\n"
      "  ./course bench 7-13 --solution --json results.json\n"
      "  ./course bench 09 --file idea.cu\n"
      "Exit status: 0 all were timed; 1 one was not; 2 wrong usage; 3 the machine\n"
      "lacks something. docs/results/README.md says how it is measured.");
}

void describe_build(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] =
      add_command<BuildArguments>(app, "build", "compiles kernels and runs nothing", run_build, chosen);
  command->add_option("LESSON", arguments.lessons, kLessonHelp);
  command->add_flag("--solution", arguments.solution, "compiles the worked solutions");
  command->add_option("--file", arguments.file, "compiles this file in place of yours")->type_name("FILE");
  command->add_flag("--quick", arguments.quick,
                    "only sees whether they compile: for one kind of GPU, without optimising");
  command->add_flag("--paths", arguments.paths, "says after each kernel where its library is");
  add_backend(command, arguments.backend);
  command->footer(
      "Examples:\n"
      "  ./course build 09\n"
      "  ./course build all --solution --backend gpu --quick");
}

void describe_export(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<ExportArguments>(
      app, "export", "makes kernels a package for Python and PyTorch", run_export, chosen);
  command
      ->add_option("LESSON", arguments.lessons, "of attention; or two, a forward and a backward pass: 22 24")
      ->required();
  command->add_option("--out", arguments.out, "new folder for the package, which pip installs")
      ->type_name("FOLDER")
      ->required();
  command->add_flag("--solution", arguments.solution, "takes the worked solutions in place of your files");
  command->add_option("--backend", arguments.backend, "auto: the simulator, and a GPU if one answers")
      ->check(CLI::IsMember({"auto", "cpu", "gpu"}))
      ->capture_default_str();
  command->footer(
      "The package has the libraries of the kernels, built for this machine. It takes\n"
      "arrays of NumPy, and tensors of PyTorch with gradients.\n"
      "Examples:\n"
      "  ./course export 17 --out ~/attention\n"
      "  ./course export 22 24 --solution --out ~/attention16");
}

void describe_judge(CLI::App& app, Chosen& chosen) {
  auto [command, arguments] = add_command<JudgeArguments>(
      app, "judge", "tests the tests: mutants must fail, solutions pass", run_judge, chosen);
  command->add_option("LESSON", arguments.lessons, kLessonHelp);
  command->add_option("--only", arguments.only, "stub, solution, alternative, mutant, or mutant/NAME")
      ->type_name("KIND")
      ->allow_extra_args(false);
  command->add_flag("--quick", arguments.quick,
                    "leaves out what is not needed to see that a mutant is rejected as its file says");
  add_backend(command, arguments.backend);
  command->footer(
      "Examples:\n"
      "  ./course judge 05\n"
      "  ./course judge 05 --quick --only solution --only mutant/tail_missing");
}

}  // namespace

void describe_kernel_commands(CLI::App& app, Chosen& chosen) {
  describe_check(app, chosen);
  describe_run(app, chosen);
  describe_gradcheck(app, chosen);
  describe_bench(app, chosen);
  describe_build(app, chosen);
  describe_export(app, chosen);
  describe_judge(app, chosen);
}

}  // namespace course::cli
