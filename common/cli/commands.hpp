#pragma once
/// @file
/// The commands of `course`. Each returns its exit status; see ExitStatus.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/terminal.hpp"

namespace course::cli {

struct CheckArguments {
  std::vector<std::string> lessons;
  bool solution = false;
  bool verbose = false;
  std::string backend = "auto";
  std::string file;        ///< judged in place of the student's own
  std::string json;        ///< where the report goes; "-" is standard output
  std::uint64_t seed = 0;  ///< of the data
  bool sanitize = false;   ///< runs the tests once more under each tool of compute-sanitizer
  std::string test_case;   ///< runs only the cases with that in their names; empty: all
  bool list = false;       ///< says which cases there are, and runs none
  bool again = false;      ///< runs the tests of a file that has passed them, too
};
int run_check(const Terminal& terminal, const CheckArguments& arguments);

struct ListArguments {
  bool json = false;
  bool verify = false;  ///< first checks again what has changed since it passed
};
int run_list(const Terminal& terminal, const ListArguments& arguments);

struct HintArguments {
  std::string lesson;     ///< empty: the one that the student is at
  int step = 0;           ///< 0: the next one
  bool watching = false;  ///< a key shows the next one
};
/// @brief Shows one hint of a lesson and remembers that it was shown.
/// @throws UsageError for a step that is beyond the next one
int run_hint(const Terminal& terminal, const HintArguments& arguments);

struct SolutionArguments {
  std::string lesson;
  bool spoil = false;  ///< before the lesson has passed, too
  bool whole = false;  ///< the solution's file, not how the student's differs from it
};
/// @brief Shows the worked solution beside the student's file. The status is kSomethingFailed if the lesson
/// has not passed its tests as they are.
int run_solution(const Terminal& terminal, const SolutionArguments& arguments);

struct ResetArguments {
  std::string lesson;
};
/// @brief Puts a lesson's stub back, and keeps the student's file beside it under a name that was free.
int run_reset(const Terminal& terminal, const ResetArguments& arguments);

struct WatchArguments {
  std::string lesson;  ///< empty: the one that the student is at
  std::string file;    ///< watched in place of the student's own
  std::string backend = "auto";
};
/// @brief Checks the student's file each time it is saved, until the student quits.
int run_watch(const Terminal& terminal, const WatchArguments& arguments);

struct RunArguments {
  std::string lesson;
  std::string in, out;
  std::vector<std::string> settings;  ///< "name=value"
  bool solution = false;
  std::string backend = "auto";
  std::string file;
};
int run_run(const Terminal& terminal, const RunArguments& arguments);

struct GradcheckArguments {
  std::string lesson;
  std::vector<std::string> settings;  ///< "name=value"
  bool solution = false;
  std::string backend = "auto";
  std::string file;        ///< checked in place of the student's own
  std::int64_t cases = 3;  ///< how many random cases
  std::uint64_t seed = 1;  ///< of the first case; each has the next
};
/// @brief Holds the gradients that a lesson's kernel gives against central differences of a float64 loss.
int run_gradcheck(const Terminal& terminal, const GradcheckArguments& arguments);

struct BuildArguments {
  std::vector<std::string> lessons;
  bool solution = false;
  std::string file;  ///< compiled in place of the student's own
  std::string backend = "cpu";
  bool quick = false;  ///< without optimising: whether it compiles at all
  bool paths = false;  ///< says where each library is
};
int run_build(const Terminal& terminal, const BuildArguments& arguments);

struct ExportArguments {
  std::vector<std::string> lessons;
  std::string out;
  bool solution = false;
  std::string backend = "auto";
};
/// @brief Writes a package for Python with the kernels of a lesson, or of a forward and a backward pass,
/// which pip installs on this machine. The status is kSomethingFailed if a kernel does not compile.
int run_export(const Terminal& terminal, const ExportArguments& arguments);

struct JudgeArguments {
  std::vector<std::string> lessons;
  std::vector<std::string>
      only;            ///< "stub", "solution", "mutant", "alternative", or "mutant/NAME", "alternative/NAME"
  bool quick = false;  ///< in the simulator, only what is needed to see mutants rejected as their files say
  std::string backend = "auto";
};
int run_judge(const Terminal& terminal, const JudgeArguments& arguments);

struct SimulateArguments {
  std::string file;
  std::vector<std::string> also;                                         ///< more source files
  std::vector<std::string> include_folders, definitions, undefinitions;  ///< as the compiler's -I, -D, -U
  std::string standard, architecture;           ///< as nvcc's -std, -arch; empty: its default
  std::vector<std::string> libraries, ignored;  ///< nvcc's -l, and options without a use
  std::vector<std::string> arguments;           ///< those behind `--`
  std::string order, seed, device, seconds;     ///< as for the simulator's settings; empty: its default
  bool check = false, profile = false;
  std::string report, trace;       ///< where JSON goes; empty: nowhere
  std::string at;                  ///< which block to trace: "launch,x,y,z" or "launch,x,y,z,warp"
  std::vector<std::string> words;  ///< the program's own arguments
};
/// @brief Compiles a CUDA program that has a main() and becomes it. Returns only if that fails.
int run_simulate(const Terminal& terminal, const SimulateArguments& arguments);

struct ProfileArguments {
  std::string lesson;
  bool solution = false;
  std::string file;       ///< profiled in place of the student's own
  std::string test_case;  ///< a part of the name of the case whose launches are shown; empty: the largest
  bool all = false;       ///< every launch of the case, not just the largest of each kernel
  std::string json;       ///< where the counts go; "-" is standard output
};
/// @brief Counts in check mode what the launches of one test case do, and shows it beside the source lines.
int run_profile(const Terminal& terminal, const ProfileArguments& arguments);

struct BenchArguments {
  std::vector<std::string> lessons;  ///< empty: all that have a benchmark
  bool solution = false;
  std::string file;  ///< timed in place of the student's own
  std::string backend = "gpu";
  std::string json;  ///< where the results go; "-" is standard output
};
/// @brief Times kernels that pass their tests over the shapes of their lessons' benchmarks, on a GPU, beside
/// what a copy and a matrix product reach there. The status is kSomethingFailed if a kernel was not timed.
int run_bench(const Terminal& terminal, const BenchArguments& arguments);

struct TraceArguments {
  std::string lesson;
  bool solution = false;
  std::string file;       ///< traced in place of the student's own
  std::string test_case;  ///< a part of the name of the cases that may run; empty: any
  std::string at = "0,0,0,0";
  std::string out;  ///< where the trace goes; "-" is standard output
};
/// @brief Runs tests until a call launches the block that is asked for, and writes its accesses as JSON.
int run_trace(const Terminal& terminal, const TraceArguments& arguments);

struct DrawArguments {
  TraceArguments trace;    ///< its `out` is where the picture goes; empty: NN_name.svg
  std::string step;        ///< a step's number in the trace; empty: the first of each kind
  bool fragments = false;  ///< no trace, but what lanes hold of the operands of tensor cores
  bool open = false;       ///< in the desktop's viewer, if stdout is a terminal
};
/// @brief Draws the trace of a block as SVG and says in words what the picture shows.
int run_draw(const Terminal& terminal, const DrawArguments& arguments);

struct GradeArguments {
  std::string submissions;  ///< folder or zip
  std::string out;
  std::vector<std::string> lessons;  ///< empty: all that anybody handed in
  std::string backend = "cpu";
  std::string isolation = "namespaces";
  bool as_root = false;
  bool any_words = false;  ///< takes files that are no CUDA C++, for tests of what comes after that
  std::uint64_t seed = 0;
  std::string secret_seed;           ///< a number, or the name of a file with one; empty: no hidden cases
  unsigned jobs = 0;                 ///< 0: one for each core
  std::vector<std::string> regrade;  ///< names of students, lessons, or "all"
  std::string deadline;
  double late_percent = 100;   ///< of a late file's points
  std::string canvas, moodle;  ///< tables that the platform gave; empty: none
  bool similarity = false;     ///< lays the files out for a search for copies
  std::string cluster;         ///< "slurm": its tasks judge; empty: this process does
  unsigned tasks = 0;          ///< of the cluster; 0: by the number of files
  std::string part;            ///< "3/8": judges that part of the files and writes no results; empty: all
};
/// @brief Grades what a class handed in, each file in a sandbox. The status is kAllPassed if every file was
/// graded, whatever its grade, and kSomethingFailed if this machine kept some from being graded.
int run_grade(const Terminal& terminal, const GradeArguments& arguments);

struct ExplainArguments {
  /// The name of a class or mistake, also in several words, or a lesson's number; empty: list all.
  std::vector<std::string> words;
  bool list = false;
  bool json = false;  ///< lists all classes, for programs
};
/// @brief Says what a class of findings is, with an example and its fix, from the page that the site shows;
/// or shows the notes of a lesson.
int run_explain(const Terminal& terminal, const ExplainArguments& arguments);

struct CompletionArguments {
  std::string shell;  ///< "bash" or "zsh"
};
/// @brief Prints what makes a shell complete the words of ./course.
int run_completion(const Terminal& terminal, const CompletionArguments& arguments);

struct DoctorArguments {
  bool json = false;
};
/// @brief Says what this machine has and lacks for the course. The status is kAllPassed if kernels can run.
int run_doctor(const Terminal& terminal, const DoctorArguments& arguments);

struct DocsArguments {
  std::string out;  ///< folder for the site; empty: `site` in the build folder
};
/// @brief Builds the site, which opens from disk, and says where it is. An older site there is replaced.
int run_docs(const Terminal& terminal, const DocsArguments& arguments);

struct TestArguments {
  std::string filter;  ///< regular expression on the names of tests; empty: all
};
int run_test(const Terminal& terminal, const TestArguments& arguments);

}  // namespace course::cli
