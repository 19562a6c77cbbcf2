#pragma once
/// @file
/// Compiles the kernels of several lessons ahead of the tests that need them.

#include <future>
#include <map>
#include <semaphore>
#include <vector>

#include "grading/build/kernel_build.hpp"
#include "grading/judging/lesson_check.hpp"

namespace course::cli {

/// What to compile a kernel for.
enum class Purpose {
  outputs,            ///< to run it, or to see that it compiles
  outputs_and_check,  ///< in the simulator also for check mode
};

/// A kernel, the lesson it is meant for, and what to compile it for.
struct KernelSource {
  grading::Lesson lesson;
  std::filesystem::path file;
  Purpose purpose = Purpose::outputs_and_check;
  bool quickly = false;  ///< for outputs, as grading::Flavour::quick, and together with others of the lesson
};

/// Builds on one thread per core from the moment it is made. Its destructor waits for what is still running.
class KernelQueue {
 public:
  KernelQueue(const grading::Toolchain& toolchain, const std::vector<KernelSource>& kernels,
              const grading::CheckOptions& options);

  /// @brief Waits for the builds of kernels[index]. Once for each index.
  /// @throws grading::MachineError, grading::Interrupted
  grading::KernelBuilds take(std::size_t index);

 private:
  using Build = std::future<grading::BuildOutcome>;

  template <class Make>
  auto start(Make make);
  std::map<std::size_t, Build> start_together(const grading::Toolchain& toolchain,
                                              const std::vector<KernelSource>& kernels, bool for_check);

  std::counting_semaphore<> cores_;
  std::vector<Build> for_outputs_, for_check_;  // the latter is empty on a GPU
};

}  // namespace course::cli
