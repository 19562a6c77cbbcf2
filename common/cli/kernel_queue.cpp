#include "cli/kernel_queue.hpp"

#include <algorithm>
#include <map>
#include <thread>

#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {

using namespace course::grading;

namespace {

/// Kernels that are compiled as one file, at most: more would keep a core busy while the other has no work.
constexpr std::size_t kTogether = 16;

}  // namespace

/// Runs `make` on a thread of its own, as soon as a core is free.
template <class Make>
auto KernelQueue::start(Make make) {
  return std::async(std::launch::async, [this, make] {
    cores_.acquire();
    const struct Release {
      std::counting_semaphore<>& cores;
      ~Release() { cores.release(); }
    } release{cores_};
    return make();
  });
}

/// Those that are to be compiled quickly, kTogether of a lesson at a time. Of the map: the kernel's index.
std::map<std::size_t, KernelQueue::Build> KernelQueue::start_together(
    const Toolchain& toolchain, const std::vector<KernelSource>& kernels, bool for_check) {
  std::map<std::string, std::vector<std::size_t>> of_lessons;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i].quickly && (!for_check || kernels[i].purpose == Purpose::outputs_and_check))
      of_lessons[kernels[i].lesson.id()].push_back(i);
  std::map<std::size_t, Build> builds;
  for (const auto& [id, indices] : of_lessons) {
    for (std::size_t begin = 0; begin < indices.size(); begin += kTogether) {
      const std::size_t end = std::min(begin + kTogether, indices.size());
      std::vector<std::filesystem::path> files;
      for (std::size_t i = begin; i < end; ++i) files.push_back(kernels[indices[i]].file);
      const Lesson& lesson = kernels[indices[begin]].lesson;
      const Flavour flavour = for_check ? Flavour::check : Flavour::quick;
      const std::shared_future<std::vector<BuildOutcome>> batch = start(
          [&toolchain, lesson, files, flavour] { return build_kernels(toolchain, lesson, files, flavour); });
      for (std::size_t i = begin; i < end; ++i)
        builds[indices[i]] =
            std::async(std::launch::deferred, [batch, i, begin] { return batch.get().at(i - begin); });
    }
  }
  return builds;
}

KernelQueue::KernelQueue(const Toolchain& toolchain, const std::vector<KernelSource>& kernels,
                         const CheckOptions& options)
    : cores_(static_cast<std::ptrdiff_t>(std::clamp(std::thread::hardware_concurrency(), 1u, 32u))) {
  const bool simulated = options.backend == Backend::cpu;
  auto for_outputs = simulated ? start_together(toolchain, kernels, false) : std::map<std::size_t, Build>();
  auto for_check = simulated ? start_together(toolchain, kernels, true) : std::map<std::size_t, Build>();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const KernelSource& kernel = kernels[i];
    const auto build = [&toolchain, options, kernel](Flavour flavour) {
      return build_kernel(toolchain, kernel.lesson, kernel.file, options.backend, flavour,
                          options.architectures);
    };
    const auto alone = [&](Flavour flavour) { return start([build, flavour] { return build(flavour); }); };
    for_outputs_.push_back(for_outputs.count(i) ? std::move(for_outputs[i])
                                                : alone(kernel.quickly ? Flavour::quick : Flavour::run));
    if (!simulated) continue;
    if (for_check.count(i))
      for_check_.push_back(std::move(for_check[i]));
    else
      for_check_.push_back(kernel.purpose == Purpose::outputs_and_check ? alone(Flavour::check) : Build());
  }
}

KernelBuilds KernelQueue::take(std::size_t index) {
  KernelBuilds builds;
  builds.run = for_outputs_.at(index).get();
  if (for_check_.empty() || !for_check_.at(index).valid() || !builds.run.ok()) return builds;
  try {
    builds.check = for_check_.at(index).get();
  } catch (const MachineError& problem) {
    builds.check_problem = problem.what();
  }
  return builds;
}

}  // namespace course::cli
