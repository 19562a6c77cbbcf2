#pragma once
/// @file
/// Which kernels a command is about, and what those that look into one begin with.

#include <string>
#include <vector>

#include "cli/kernel_queue.hpp"
#include "cli/workspace.hpp"

namespace course::cli {

/// @brief The kernel that a command is about: the student's file, the worked solution, or another file.
/// @throws UsageError, grading::UnknownLesson
KernelSource choose_one_kernel(const Workspace& workspace, const std::string& command,
                               const std::string& lesson, bool solution, const std::string& file);

/// @brief The same of all lessons that are named, where another file takes exactly one.
/// @throws UsageError, grading::UnknownLesson
std::vector<KernelSource> choose_kernels(const Workspace& workspace, const std::vector<std::string>& lessons,
                                         bool solution, const std::string& file);

/// @brief Builds the lesson's tests, then the kernel for outputs and for check mode.
/// @throws grading::MachineError
grading::KernelBuilds build_one_kernel(const Terminal& terminal, Workspace& workspace,
                                       const KernelSource& kernel, const grading::CheckOptions& options);

}  // namespace course::cli
