#include "cli/staff/bench_kernels.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "cli/shell_word.hpp"
#include "grading/build/bench_build.hpp"
#include "grading/project/gpu_probe.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

std::vector<Lesson> with_benchmark(std::vector<Lesson> lessons, bool benchmark = true) {
  std::erase_if(lessons,
                [&](const Lesson& lesson) { return fs::exists(benchmark_source(lesson)) != benchmark; });
  return lessons;
}

}  // namespace

void require_time_options(const BenchArguments& arguments) {
  if (arguments.backend == "cpu")
    throw UsageError(
        "Only a GPU can be timed: what the simulator takes says nothing about that. "
        "`./course profile LESSON` counts without a GPU what a kernel makes the memory do.");
  if (arguments.solution && !arguments.file.empty())
    throw UsageError("--solution and --file exclude each other.");
  if (arguments.file.empty()) return;
  if (!fs::is_regular_file(arguments.file))
    throw UsageError(fmt::format("There is no file {}.", arguments.file));
}

std::vector<KernelSource> choose_kernels(const Terminal& terminal, const Workspace& workspace,
                                         const BenchArguments& arguments) {
  const std::vector<Lesson> named = workspace.select(arguments.lessons);
  if (!arguments.file.empty() && (named.size() != 1 || arguments.lessons.empty()))
    throw UsageError("--file needs exactly one lesson.");
  const std::vector<Lesson> lessons = with_benchmark(named), others = with_benchmark(named, false);
  if (lessons.empty())
    throw UsageError(fmt::format("Without a benchmark: {}. These lessons have one: {}.", numbers_of(others),
                                 numbers_of(with_benchmark(workspace.lessons()))));
  if (!others.empty() && !arguments.lessons.empty())
    fmt::print(stderr, "{}",
               wrap(fmt::format("course: left out, without a benchmark: {}.", numbers_of(others)), 0,
                    terminal.width()));
  std::vector<KernelSource> kernels;
  for (const Lesson& lesson : lessons)
    kernels.push_back({lesson, !arguments.file.empty() ? fs::absolute(arguments.file)
                               : arguments.solution    ? lesson.solution()
                                                       : lesson.stub()});
  return kernels;
}

CheckOptions choose_gpu(const Workspace& workspace) {
  constexpr const char* kWithout = "`./course profile LESSON` counts memory traffic without it.";
  if (!workspace.toolchain().gpu)
    throw MachineError(fmt::format(
        "Timing needs the CUDA toolkit 12.4 or newer and a GPU. Install it, see that nvcc is on PATH, "
        "and run the command again. {}",
        kWithout));
  if (const GpuProbe gpu = probe_gpu(); !gpu.answers)
    throw MachineError(fmt::format("No GPU answers: {}. Install NVIDIA's driver on a machine with a GPU. {}",
                                   gpu.why_not, kWithout));
  return workspace.choose_backend("gpu");
}

std::string which_kernel(const BenchArguments& arguments, bool with_folders) {
  if (arguments.solution) return " --solution";
  if (arguments.file.empty()) return "";
  return " --file " +
         shell_word(with_folders ? arguments.file : fs::path(arguments.file).filename().string());
}

}  // namespace course::cli
