#include "cli/kernel_queue.hpp"

#include <algorithm>
#include <thread>

#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {

using namespace course::grading;

KernelQueue::KernelQueue(const Toolchain& toolchain, const std::vector<KernelSource>& kernels,
                         const CheckOptions& options)
    : cores_(static_cast<std::ptrdiff_t>(std::clamp(std::thread::hardware_concurrency(), 1u, 32u))) {
  const auto build = [&toolchain, options](const KernelSource& kernel, Flavour flavour) {
    return build_kernel(toolchain, kernel.lesson, kernel.file, options.backend, flavour,
                        options.architectures);
  };
  const auto start = [&](const KernelSource& kernel, Flavour flavour) {
    return std::async(std::launch::async, [this, build, kernel, flavour] {
      cores_.acquire();
      const struct Release {
        std::counting_semaphore<>& cores;
        ~Release() { cores.release(); }
      } release{cores_};
      return build(kernel, flavour);
    });
  };
  for (const KernelSource& kernel : kernels) {
    purposes_.push_back(kernel.purpose);
    for_outputs_.push_back(start(kernel, kernel.quickly ? Flavour::quick : Flavour::run));
    if (options.backend != Backend::cpu) continue;
    for_check_.push_back(kernel.purpose == Purpose::outputs_and_check
                             ? start(kernel, Flavour::check)
                             : std::async(std::launch::deferred, build, kernel, Flavour::check));
  }
}

KernelBuilds KernelQueue::take(std::size_t index) {
  KernelBuilds builds;
  builds.run = for_outputs_.at(index).get();
  if (purposes_.at(index) == Purpose::outputs_and_check) take_check(index, builds);
  return builds;
}

void KernelQueue::take_check(std::size_t index, KernelBuilds& builds) {
  if (for_check_.empty() || !builds.run.ok()) return;
  try {
    builds.check = for_check_.at(index).get();
  } catch (const MachineError& problem) {
    builds.check_problem = problem.what();
  }
}

}  // namespace course::cli
