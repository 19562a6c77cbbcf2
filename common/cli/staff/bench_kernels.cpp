#include "cli/staff/bench_kernels.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "cli/one_kernel.hpp"
#include "cli/shell_word.hpp"
#include "grading/build/bench_build.hpp"
#include "grading/project/gpu_probe.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

bool has_benchmark(const Lesson& lesson) { return fs::exists(benchmark_source(lesson)); }

}  // namespace

void require_time_options(const BenchArguments& arguments) {
  if (arguments.backend == "cpu")
    throw UsageError(
        "Only a GPU can be timed: what the simulator takes says nothing about that. "
        "`./course profile LESSON` counts without a GPU what a kernel makes the memory do.");
}

std::vector<KernelSource> choose_timed_kernels(const Terminal& terminal, const Workspace& workspace,
                                               const BenchArguments& arguments) {
  std::vector<KernelSource> kernels =
      choose_kernels(workspace, arguments.lessons, arguments.solution, arguments.file);
  std::vector<Lesson> others;
  for (const KernelSource& kernel : kernels)
    if (!has_benchmark(kernel.lesson)) others.push_back(kernel.lesson);
  std::erase_if(kernels, [](const KernelSource& kernel) { return !has_benchmark(kernel.lesson); });
  if (kernels.empty()) {
    std::vector<Lesson> timed = workspace.lessons();
    std::erase_if(timed, [](const Lesson& lesson) { return !has_benchmark(lesson); });
    throw UsageError(fmt::format("Without a benchmark: {}. These lessons have one: {}.", numbers_of(others),
                                 numbers_of(timed)));
  }
  if (!others.empty() && !arguments.lessons.empty())
    fmt::print(stderr, "{}",
               wrap(fmt::format("course: left out, without a benchmark: {}.", numbers_of(others)), 0,
                    terminal.width()));
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
