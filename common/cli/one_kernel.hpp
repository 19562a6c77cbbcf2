#pragma once
/// @file
/// What the commands that look into one kernel begin with.

#include <string>

#include "cli/kernel_queue.hpp"
#include "cli/workspace.hpp"

namespace course::cli {

/// @brief The kernel that a command is about: the student's file, the worked solution, or another file.
/// @throws UsageError, grading::UnknownLesson
KernelSource choose_one_kernel(const Workspace& workspace, const std::string& command,
                               const std::string& lesson, bool solution, const std::string& file);

/// @brief Builds the lesson's tests, then the kernel for outputs and for check mode.
/// @throws grading::MachineError
grading::KernelBuilds build_one_kernel(const Terminal& terminal, Workspace& workspace,
                                       const KernelSource& kernel, const grading::CheckOptions& options);

}  // namespace course::cli
