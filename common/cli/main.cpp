// `course`: checks what a student wrote, and does for authors what lessons need.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "cli/commands.hpp"
#include "cli/workspace.hpp"
#include "grading/lesson.hpp"
#include "grading/subprocess.hpp"

namespace course::cli {
namespace {

constexpr const char* kLessonHelp = "number (9, 09), name, range (1-7) or all";

CLI::Option* add_backend(CLI::App* command, std::string& backend) {
  return command->add_option("--backend", backend, "auto: a GPU if one answers, else the simulator")
      ->check(CLI::IsMember({"auto", "cpu", "gpu"}))
      ->capture_default_str();
}

/// Accepts whole numbers from `least` on, of at most 18 digits.
std::function<std::string(const std::string&)> whole_number(std::int64_t least) {
  return [least](const std::string& text) {
    const bool digits =
        !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string::npos;
    return digits && std::stoll(text) >= least
               ? std::string()
               : fmt::format("it must be a whole number from {} on, not {}.", least, text);
  };
}

CLI::Option* add_settings(CLI::App* command, std::vector<std::string>& settings) {
  const auto wrong = [](const std::string& setting) {
    const std::size_t equals = setting.find('=');
    return equals == 0 || equals == std::string::npos ? fmt::format("write {} as name=value.", setting)
                                                      : std::string();
  };
  return command->add_option("--set", settings, "name=value, once for each setting")
      ->allow_extra_args(false)
      ->check(wrong);
}

void say(const Terminal& terminal, const std::string& message) {
  terminal.clear_progress();
  fmt::print(stderr, "{}", wrap("course: " + message, 0, terminal.width()));
}

/// The arguments of every command, and the function that the given command line calls for.
struct CommandLine {
  CheckArguments check;
  ListArguments list;
  RunArguments run;
  GradcheckArguments gradcheck;
  SimulateArguments simulate;
  ProfileArguments profile;
  BenchArguments bench;
  TraceArguments trace;
  BuildArguments build;
  JudgeArguments judge;
  GradeArguments grade;
  DocsArguments docs;
  TestArguments test;
  std::function<int(const Terminal&)> chosen;

  void describe(CLI::App& app) {
    app.name("./course");
    app.require_subcommand(1);
    app.footer(
        "With --yes, anywhere on the line, missing packages are installed without asking.\n"
        "Exit status: 0 all passed, 1 something failed, 2 wrong usage, 3 the machine lacks something.");

    auto* c = app.add_subcommand("check", "builds kernels and runs their tests");
    c->add_option("LESSON", check.lessons, kLessonHelp);
    c->add_flag("--solution", check.solution, "checks the worked solution in place of your file");
    c->add_option("--file", check.file, "checks this file in place of yours");
    add_backend(c, check.backend);
    c->add_option("--json", check.json, "also writes the results there; - is standard output");
    c->add_option("--seed", check.seed, "of the data, for other numbers than the usual ones")
        ->check(whole_number(0));
    c->add_flag("-v,--verbose", check.verbose, "shows every failed case in full");
    c->callback([this] { chosen = [this](const Terminal& t) { return run_check(t, check); }; });

    c = app.add_subcommand("list", "shows the lessons and what you have reached");
    c->add_flag("--json", list.json, "for programs");
    c->callback([this] { chosen = [this](const Terminal& t) { return run_list(t, list); }; });

    c = app.add_subcommand("run", "runs a kernel on your own .npy arrays");
    c->add_option("LESSON", run.lesson, kLessonHelp)->required();
    c->add_option("--in", run.in, "folder with the inputs, one NAME.npy each")->required();
    c->add_option("--out", run.out, "folder for the outputs")->required();
    add_settings(c, run.settings);
    c->add_flag("--solution", run.solution, "runs the worked solution in place of your file");
    c->add_option("--file", run.file, "runs this file in place of yours");
    add_backend(c, run.backend);
    c->callback([this] { chosen = [this](const Terminal& t) { return run_run(t, run); }; });

    describe_gradcheck(app);
    describe_simulate(app);
    describe_profile(app);
    describe_bench(app);
    describe_trace(app);

    c = app.add_subcommand("build", "compiles kernels and runs nothing");
    c->add_option("LESSON", build.lessons, kLessonHelp);
    c->add_flag("--solution", build.solution, "compiles the worked solutions");
    c->add_flag("--quick", build.quick, "for a GPU: does not optimise, only sees whether they compile");
    c->add_flag("--paths", build.paths, "says, behind each kernel, where its library is");
    add_backend(c, build.backend);
    c->callback([this] { chosen = [this](const Terminal& t) { return run_build(t, build); }; });

    c = app.add_subcommand("judge", "tests the tests: stubs and mutants must fail, solutions must pass");
    c->add_option("LESSON", judge.lessons, kLessonHelp);
    c->add_option("--only", judge.only, "stub, solution, alternative, mutant, or mutant/NAME")
        ->allow_extra_args(false);
    c->add_flag("--quick", judge.quick,
                "leaves out what is not needed to see that a mutant is rejected as its file says");
    add_backend(c, judge.backend);
    c->callback([this] { chosen = [this](const Terminal& t) { return run_judge(t, judge); }; });

    describe_grade(app);

    c = app.add_subcommand("docs", "builds the site: the lessons as a book, and the pages beside them");
    c->add_option("--out", docs.out, "folder for the site, not build/site; an older site there is replaced");
    c->callback([this] { chosen = [this](const Terminal& t) { return run_docs(t, docs); }; });

    c = app.add_subcommand("test", "builds and runs everything that CI runs");
    c->add_option("--filter", test.filter, "only tests whose name matches this regular expression");
    c->callback([this] { chosen = [this](const Terminal& t) { return run_test(t, test); }; });
  }

  void describe_grade(CLI::App& app) {
    auto* c = app.add_subcommand("grade", "grades what a class handed in, each file in a sandbox");
    c->add_option("SUBMISSIONS", grade.submissions, "folder or zip: one folder or zip a student")->required();
    c->add_option("--out", grade.out, "folder for results; a run goes on where it was ended")->required();
    c->add_option("--lessons", grade.lessons, "that count; else all that anybody handed in");
    c->add_option("--secret-seed", grade.secret_seed,
                  "number or file: adds hidden cases, worth half of the points");
    c->add_option("--seed", grade.seed, "of the open cases' data; 0 is what students have")
        ->check(whole_number(0));
    c->add_option("--deadline", grade.deadline, "\"2026-11-22 17:30\", local time: what is newer is late");
    c->add_option("--late", grade.late_percent, "percent of its points that a late file gets")
        ->check(CLI::Range(0.0, 100.0))
        ->capture_default_str();
    c->add_option("--regrade", grade.regrade, "student, lesson or all: judges again what has a verdict");
    c->add_option("--canvas", grade.canvas, "gradebook exported from Canvas, to fill in");
    c->add_option("--moodle", grade.moodle, "worksheet downloaded from Moodle, to fill in");
    c->add_flag("--similarity", grade.similarity, "lays the files out for JPlag, in OUT/similarity");
    c->add_option("--jobs", grade.jobs, "files at a time; else one a core")->check(CLI::Range(1, 256));
    c->add_option("--backend", grade.backend, "where kernels run")->check(CLI::IsMember({"cpu", "gpu"}));
    c->add_option("--isolation", grade.isolation, "process: weaker, for machines without namespaces")
        ->check(CLI::IsMember({"namespaces", "process"}))
        ->capture_default_str();
    c->add_flag("--as-root", grade.as_root, "you are root and mean it: files run as the user nobody");
    c->footer(
        "A file belongs to lesson 01 if it is called 01_vector_add.cu or vector_add.cu,\n"
        "in any folder of its student. Of several, the newest counts.\n"
        "Examples:\n"
        "  ./course grade submissions --out results\n"
        "  ./course grade hw3.zip --out results --lessons 5-7 --secret-seed seed.txt\n"
        "  ./course grade submissions --out results --regrade \"Ada Lovelace\"\n"
        "Exit status: 0 every file was graded, good or bad; 1 the machine kept some from\n"
        "being graded, and the same command again grades them; 2 wrong usage; 3 the\n"
        "machine lacks something. docs/grading.md tells all of it.");
    c->callback([this] { chosen = [this](const Terminal& t) { return run_grade(t, grade); }; });
  }

  void describe_gradcheck(CLI::App& app) {
    auto* c = app.add_subcommand("gradcheck", "checks gradients by central differences");
    c->add_option("LESSON", gradcheck.lesson, "number (14) or name")->required();
    add_settings(c, gradcheck.settings);
    c->add_option("--cases", gradcheck.cases, "how many random cases")
        ->check(whole_number(1))
        ->capture_default_str();
    c->add_option("--seed", gradcheck.seed, "of the first case; each has the next")
        ->check(whole_number(0))
        ->capture_default_str();
    c->add_flag("--solution", gradcheck.solution, "checks the worked solution, not your file");
    c->add_option("--file", gradcheck.file, "checks this file in place of yours");
    add_backend(c, gradcheck.backend);
    c->footer(
        "Examples:\n"
        "  ./course gradcheck 14\n"
        "  ./course gradcheck 15 --set causal=true --cases 10\n"
        "  ./course gradcheck 15 --seed 7 --cases 1\n"
        "Exit status: 0 all gradients are right, 1 one is wrong, 2 wrong usage.");
    c->callback([this] { chosen = [this](const Terminal& t) { return run_gradcheck(t, gradcheck); }; });
  }

  void describe_simulate(CLI::App& app) {
    auto* c =
        app.add_subcommand("simulate", "runs a CUDA program of your own, with its main(), without a GPU");
    c->add_option("FILE", simulate.file, "the program's source")->required();
    c->add_option("ARGUMENTS", simulate.words, "go to the program, after --");
    c->add_flag("--check", simulate.check, "names mistakes and their lines");
    c->add_flag("--profile", simulate.profile, "counts memory traffic, line by line");
    c->add_option("--report", simulate.report, "writes findings and counts there as JSON");
    c->add_option("--trace", simulate.trace, "writes one block's accesses there as JSON");
    c->add_option("--at", simulate.at, "of block: launch,x,y,z or launch,x,y,z,warp");
    c->add_option("--order", simulate.order, "of blocks, warps and lanes")
        ->check(CLI::IsMember({"forward", "reverse", "random"}));
    c->add_option("--seed", simulate.seed, "of the random order")->check(CLI::NonNegativeNumber);
    c->add_option("--device", simulate.device, "whose limits apply")
        ->check(CLI::IsMember({"t4", "rtx4090", "a100", "h200"}));
    c->add_option("--seconds", simulate.seconds, "after which a kernel counts as endless")
        ->check(CLI::PositiveNumber);
    c->footer(
        "Examples:\n"
        "  ./course simulate idea.cu\n"
        "  ./course simulate --check idea.cu -- 1024 verbose\n"
        "  ./course simulate --profile idea.cu 2>profile.txt\n"
        "  ./course simulate --trace trace.json --at 0,2,0,0 idea.cu\n"
        "Exit status: the program's own, but 1 for 0 if a kernel failed or --check\n"
        "found an error.");
    c->callback([this] { chosen = [this](const Terminal& t) { return run_simulate(t, simulate); }; });
  }

  void describe_profile(CLI::App& app) {
    auto* c = app.add_subcommand("profile", "counts memory traffic of a lesson's kernel, line by line");
    c->add_option("LESSON", profile.lesson, "number (9, 09) or name")->required();
    c->add_flag("--solution", profile.solution, "profiles the worked solution, not your file");
    c->add_option("--file", profile.file, "profiles this file in place of yours");
    c->add_option("--case", profile.test_case, "the case with this in its name, not the largest");
    c->add_flag("--all", profile.all, "all launches, not each kernel's largest");
    c->add_option("--json", profile.json, "writes the counts there, too; - is stdout");
    c->footer(
        "Examples:\n"
        "  ./course profile 01\n"
        "  ./course profile 01 --solution --json counts.json\n"
        "  ./course profile 01 --case \"several blocks\" --all");
    c->callback([this] { chosen = [this](const Terminal& t) { return run_profile(t, profile); }; });
  }

  void describe_bench(CLI::App& app) {
    auto* c = app.add_subcommand("bench", "times kernels on a GPU, beside the floors that it sets");
    c->add_option("LESSON", bench.lessons, kLessonHelp);
    c->add_flag("--solution", bench.solution, "times the worked solution in place of your file");
    c->add_option("--file", bench.file, "times this file in place of yours");
    c->add_option("--backend", bench.backend, "a GPU: what the simulator takes says nothing")
        ->check(CLI::IsMember({"auto", "cpu", "gpu"}))
        ->capture_default_str();
    c->add_option("--json", bench.json, "writes the results there, too; - is stdout");
    c->footer(
        "A kernel is timed only if it passes its tests. The floor of a time is what the\n"
        "bytes of the problem take at the rate of a copy, or its operations at that of a\n"
        "float32 matrix product, both measured first; the longer of the two counts.\n"
        "Examples:\n"
        "  ./course bench 09\n"
        "  ./course bench 7-13 --solution --json results.json\n"
        "  ./course bench 09 --file idea.cu\n"
        "Exit status: 0 all were timed; 1 one was not; 2 wrong usage; 3 the machine\n"
        "lacks something. docs/results/README.md says how it is measured.");
    c->callback([this] { chosen = [this](const Terminal& t) { return run_bench(t, bench); }; });
  }

  void describe_trace(CLI::App& app) {
    auto* c = app.add_subcommand("trace", "writes every access of one block of a lesson's kernel, as JSON");
    c->add_option("LESSON", trace.lesson, "number (9, 09) or name")->required();
    c->add_flag("--solution", trace.solution, "traces the worked solution, not your file");
    c->add_option("--file", trace.file, "traces this file in place of yours");
    c->add_option("--case", trace.test_case, "only test cases with this in their name");
    c->add_option("--at", trace.at, "launch,x,y,z or launch,x,y,z,warp")->capture_default_str();
    c->add_option("--out", trace.out, "where the trace goes; - is stdout")->required();
    c->footer(
        "Examples:\n"
        "  ./course trace 01 --out trace.json\n"
        "  ./course trace 01 --solution --at 0,1,0,0,7 --out warp.json");
    c->callback([this] { chosen = [this](const Terminal& t) { return run_trace(t, trace); }; });
  }
};

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
  CommandLine command_line;
  command_line.describe(app);
  require_known_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kAllPassed : kWrongUsage;  // --help is a ParseError with status 0
  }
  grading::install_interrupt_handler();
  return command_line.chosen(terminal);
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
