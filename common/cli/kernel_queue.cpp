#include "cli/kernel_queue.hpp"

#include <algorithm>
#include <thread>

#include "grading/subprocess.hpp"

namespace course::cli {

using namespace course::grading;

KernelQueue::KernelQueue(const Toolchain& toolchain, const std::vector<KernelSource>& kernels,
                         const CheckOptions& options)
    : cores_(static_cast<std::ptrdiff_t>(std::clamp(std::thread::hardware_concurrency(), 1u, 32u))) {
  for (const KernelSource& kernel : kernels) {
    builds_.push_back(std::async(std::launch::async, [this, &toolchain, kernel, options] {
      cores_.acquire();
      const struct Release {
        std::counting_semaphore<>& cores;
        ~Release() { cores.release(); }
      } release{cores_};
      return build_kernel(toolchain, kernel.lesson, kernel.file, options.backend, options.architectures);
    }));
  }
}

}  // namespace course::cli
