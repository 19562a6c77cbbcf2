// Times kernels on a GPU, beside the floors that this GPU sets.

#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <optional>
#include <semaphore>
#include <thread>

#include "cli/commands.hpp"
#include "cli/kernel_queue.hpp"
#include "cli/staff/bench_kernels.hpp"
#include "cli/staff/bench_report.hpp"
#include "cli/staff/bench_run.hpp"
#include "cli/workspace.hpp"
#include "grading/build/bench_build.hpp"
#include "grading/build/kernel_cache.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

/// One run of the command, from the sources to the results.
class Bench {
 public:
  Bench(const Terminal& terminal, const Toolchain& toolchain, const BenchArguments& arguments,
        std::vector<KernelSource> kernels, CheckOptions options)
      : terminal_(terminal),
        toolchain_(toolchain),
        arguments_(arguments),
        kernels_(std::move(kernels)),
        options_(std::move(options)) {}

  /// @brief Judges, compiles, and only then times, so that nothing else runs meanwhile.
  bool run() {
    judge();
    const bool any = std::any_of(results_.begin(), results_.end(), [](const LessonBench& bench) {
      return bench.status != BenchStatus::failed;
    });
    if (any) {
      compile();
      measure_ceilings();
      if (for_people()) fmt::print("{}\n", render_ceilings(terminal_, ceilings_));
    }
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      if (results_[i].status != BenchStatus::failed) time(i);
      if (for_people())
        fmt::print("{}{}", i > 0 ? "\n" : "", render_bench(terminal_, results_[i], ceilings_));
      std::fflush(stdout);
      if (for_people()) write(i + 1);
    }
    if (!for_people()) write(kernels_.size());
    return std::all_of(results_.begin(), results_.end(),
                       [](const LessonBench& bench) { return bench.status == BenchStatus::timed; });
  }

 private:
  bool for_people() const { return arguments_.json != "-"; }

  void show(std::size_t index, const std::string& words) const {
    terminal_.show_progress(fmt::format("{} {}", kernels_[index].lesson.id(), words), index, kernels_.size());
  }

  void refuse(std::size_t index, const std::string& reason) {
    LessonBench& bench = results_[index];
    bench.status = BenchStatus::failed;
    bench.reason = fmt::format("not timed, since {}.", reason);
    bench.advice = fmt::format("./course check {}{} --backend gpu says why.", bench.lesson.two_digits(),
                               which_kernel(arguments_, true));
  }

  void judge() {
    KernelQueue queue(toolchain_, kernels_, options_);
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const KernelSource& kernel = kernels_[i];
      results_.push_back({.lesson = kernel.lesson,
                          .kernel = arguments_.solution ? "solution" : kernel.file.filename().string()});
      judged_.push_back(hash_file(kernel.file));
      show(i, "compiling");
      const KernelBuilds builds = queue.take(i);
      CheckOptions options = options_;
      options.on_case = [&](int done) { show(i, fmt::format("testing, {} cases done", done)); };
      const LessonReport report = check_kernel(toolchain_, kernel.lesson, kernel.file, builds, options);
      const auto failed = std::count_if(report.cases.begin(), report.cases.end(),
                                        [](const CaseResult& result) { return !result.passed; });
      if (!builds.run.ok())
        refuse(i, "it does not compile");
      else if (report.verdict == Verdict::error)
        refuse(i, "its tests do not come to their end");
      else if (failed > 0)
        refuse(i, fmt::format("{} of its {} test cases fail", failed, report.cases.size()));
    }
    terminal_.clear_progress();
  }

  /// The ceilings' program and the benchmarks of what passed, on all cores.
  void compile() {
    std::counting_semaphore<> cores(
        static_cast<std::ptrdiff_t>(std::clamp(std::thread::hardware_concurrency(), 1u, 32u)));
    const auto start = [&](auto build) {
      return std::async(std::launch::async, [&cores, build] {
        cores.acquire();
        const struct Release {
          std::counting_semaphore<>& cores;
          ~Release() { cores.release(); }
        } release{cores};
        return build();
      });
    };
    auto ceilings = start([this] { return build_ceilings(toolchain_, options_.architectures); });
    std::vector<std::future<BuildOutcome>> builds;
    for (std::size_t i = 0; i < kernels_.size(); ++i)
      if (results_[i].status != BenchStatus::failed)
        builds.push_back(start([this, i] {
          return build_benchmark(toolchain_, kernels_[i].lesson, kernels_[i].file, options_.architectures);
        }));
    programs_.resize(kernels_.size());
    auto next = builds.begin();
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      if (results_[i].status == BenchStatus::failed) continue;
      show(i, "compiling the benchmark");
      programs_[i] = (next++)->get();
    }
    ceilings_program_ = ceilings.get();
    terminal_.clear_progress();
  }

  BenchmarkRun run_program(const fs::path& program,
                           std::function<void(const BenchmarkResults&)> on_progress) {
    return run_benchmark({.program = program,
                          .directory = toolchain_.source_dir,
                          .scratch = toolchain_.binary_dir / "kernels",
                          .on_progress = std::move(on_progress)});
  }

  /// @throws MachineError, since without a copy's rate there is nothing to compare with
  void measure_ceilings() {
    if (!ceilings_program_.ok())
      throw MachineError("The ceilings cannot be measured. " + ceilings_program_.message);
    const BenchmarkRun run = run_program(ceilings_program_.library, [this](const BenchmarkResults&) {
      terminal_.show_progress("measuring a copy and a matrix product", 0, 0);
    });
    terminal_.clear_progress();
    if (!run.problem.empty()) throw MachineError("The ceilings cannot be measured. " + run.problem);
    ceilings_ = {run.results.machine, ceilings_of(run.results), run.results.measurements};
  }

  void time(std::size_t index) {
    LessonBench& bench = results_[index];
    bench.status = BenchStatus::error;
    bench.reason = without_folders(programs_[index].message, kernels_[index].file);
    if (!programs_[index].ok()) return;
    if (hash_file(kernels_[index].file) != judged_[index]) {
      bench.reason = "Not timed, since its file has changed since its tests ran: run the command again.";
      return;
    }
    const std::string bus = ceilings_.machine.value("pci_bus_id", std::string());
    bench.before = read_gpu(bus);
    show(index, "warming up");
    BenchmarkRun run = run_program(programs_[index].library, [&](const BenchmarkResults& so_far) {
      if (!so_far.measurements.empty())
        show(index,
             fmt::format("{} times, {}", so_far.measurements.size(), so_far.measurements.back().label));
    });
    terminal_.clear_progress();
    bench.after = read_gpu(bus);
    bench.results = std::move(run.results);
    bench.reason = without_folders(run.problem, kernels_[index].file);
    if (run.problem.empty()) bench.status = BenchStatus::timed;
  }

  /// The text without folders before the names of our files and of the kernel's: it may go to others.
  std::string without_folders(std::string text, const fs::path& kernel) const {
    for (const fs::path& folder : {toolchain_.source_dir, toolchain_.binary_dir, kernel.parent_path()}) {
      const std::string words = folder.string() + "/";
      for (std::size_t at; (at = text.find(words)) != std::string::npos;) text.erase(at, words.size());
    }
    return text;
  }

  /// The results of the first `count` lessons, so that a run that is ended leaves what it had.
  void write(std::size_t count) const {
    if (arguments_.json.empty()) return;
    std::string command = "./course bench";
    for (const std::string& lesson : arguments_.lessons) command += " " + lesson;
    command += which_kernel(arguments_, false) + " --backend gpu";
    const std::vector<LessonBench> done(results_.begin(),
                                        results_.begin() + static_cast<std::ptrdiff_t>(count));
    write_result(arguments_.json, bench_text(command, ceilings_, done));
  }

  const Terminal& terminal_;
  const Toolchain& toolchain_;
  const BenchArguments& arguments_;
  std::vector<KernelSource> kernels_;
  CheckOptions options_;
  std::vector<LessonBench> results_;
  std::vector<std::string> judged_;     // content of the files that the tests ran on
  std::vector<BuildOutcome> programs_;  // of what passed
  BuildOutcome ceilings_program_;
  BenchCeilings ceilings_;
};

}  // namespace

int run_bench(const Terminal& terminal, const BenchArguments& arguments) {
  require_time_options(arguments);
  Workspace workspace(terminal);
  const std::vector<KernelSource> kernels = choose_timed_kernels(terminal, workspace, arguments);
  require_writable("--json", arguments.json);
  const CheckOptions options = choose_gpu(workspace);
  std::vector<Lesson> lessons;
  for (const KernelSource& kernel : kernels) lessons.push_back(kernel.lesson);
  workspace.make_ready(lessons);
  return Bench(terminal, workspace.toolchain(), arguments, kernels, options).run() ? kAllPassed
                                                                                   : kSomethingFailed;
}

}  // namespace course::cli
