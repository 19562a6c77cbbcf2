#pragma once
/// @file
/// Compiles the kernels of several lessons ahead of the tests that need them.

#include <future>
#include <semaphore>
#include <vector>

#include "grading/kernel_build.hpp"
#include "grading/lesson_check.hpp"

namespace course::cli {

/// A kernel and the lesson it is meant for.
struct KernelSource {
  grading::Lesson lesson;
  std::filesystem::path file;
};

/// Builds on one thread per core from the moment it is made. Its destructor waits for what is still running.
class KernelQueue {
 public:
  KernelQueue(const grading::Toolchain& toolchain, const std::vector<KernelSource>& kernels,
              const grading::CheckOptions& options);

  /// @brief Waits for the build of kernels[index]. Once for each index.
  /// @throws grading::MachineError, grading::Interrupted
  grading::BuildOutcome take(std::size_t index) { return builds_.at(index).get(); }

 private:
  std::counting_semaphore<> cores_;
  std::vector<std::future<grading::BuildOutcome>> builds_;
};

}  // namespace course::cli
