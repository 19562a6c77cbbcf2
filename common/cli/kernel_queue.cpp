#include "cli/kernel_queue.hpp"

#include <algorithm>
#include <thread>

#include "grading/machine_error.hpp"
#include "grading/subprocess.hpp"

namespace course::cli {

using namespace course::grading;

KernelQueue::KernelQueue(const Toolchain& toolchain, const std::vector<KernelSource>& kernels,
                         const CheckOptions& options, Purpose purpose)
    : cores_(static_cast<std::ptrdiff_t>(std::clamp(std::thread::hardware_concurrency(), 1u, 32u))) {
  const auto start = [&](const KernelSource& kernel, Flavour flavour) {
    return std::async(std::launch::async, [this, &toolchain, kernel, options, flavour] {
      cores_.acquire();
      const struct Release {
        std::counting_semaphore<>& cores;
        ~Release() { cores.release(); }
      } release{cores_};
      return build_kernel(toolchain, kernel.lesson, kernel.file, options.backend, flavour,
                          options.architectures);
    });
  };
  const bool check = purpose == Purpose::outputs_and_check && options.backend == Backend::cpu;
  for (const KernelSource& kernel : kernels) {
    for_outputs_.push_back(start(kernel, Flavour::run));
    if (check) for_check_.push_back(start(kernel, Flavour::check));
  }
}

KernelBuilds KernelQueue::take(std::size_t index) {
  KernelBuilds builds;
  builds.run = for_outputs_.at(index).get();
  if (for_check_.empty() || !builds.run.ok()) return builds;
  try {
    builds.check = for_check_.at(index).get();
  } catch (const MachineError& problem) {
    builds.check_problem = problem.what();
  }
  return builds;
}

}  // namespace course::cli
