#pragma once
/// @file
/// Which kernels `course bench` times, and whether it can time anything here.

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/kernel_queue.hpp"
#include "cli/workspace.hpp"

namespace course::cli {

/// @brief Finds out whether the options go together.
/// @throws UsageError
void require_time_options(const BenchArguments& arguments);

/// @brief The kernels to time, one a lesson. Says on stderr which of the lessons named have no benchmark.
/// @throws UsageError if none of them has, or as choose_kernels() in one_kernel.hpp
/// @throws grading::UnknownLesson
std::vector<KernelSource> choose_timed_kernels(const Terminal& terminal, const Workspace& workspace,
                                               const BenchArguments& arguments);

/// @brief How kernels are built and run on this machine's GPU.
/// @throws grading::MachineError that says what is missing
grading::CheckOptions choose_gpu(const Workspace& workspace);

/// @brief The options that name the kernels, as on the command line, with a space before each; a file by its
/// name alone unless `with_folders`.
std::string which_kernel(const BenchArguments& arguments, bool with_folders);

}  // namespace course::cli
