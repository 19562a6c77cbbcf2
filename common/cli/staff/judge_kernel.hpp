#pragma once
/// @file
/// How `course judge` comes to the judgement of one variant: in which modes its kernel is built and run.

#include <optional>

#include "cli/kernel_queue.hpp"
#include "grading/judging/judge.hpp"

namespace course::cli {

/// @brief What `--quick` compiles of a variant, whose kernel is in `file`: in the simulator a mutant without
/// much optimising, and for check mode only what run mode cannot settle.
KernelSource quick_source(const grading::Lesson& lesson, const grading::Variant& variant,
                          const std::filesystem::path& file, grading::Backend backend);

/// @brief Judges kernels[index] of the queue. A kernel that was built for its outputs alone is judged by run
/// mode; if it is not as expected there, there is no judgement yet: it takes one that was built for check
/// mode, too. With `quick`, the case that a mutant names runs alone, and the cases end where a mutant is
/// rejected already. In the simulator, what the lesson's notes print of the stub's first check has to be what
/// it says.
/// @throws grading::MachineError, grading::Interrupted
std::optional<grading::Judgement> judge_kernel(const grading::Toolchain& toolchain, KernelQueue& queue,
                                               std::size_t index, const KernelSource& kernel,
                                               const grading::Variant& variant, grading::CheckOptions options,
                                               bool quick);

}  // namespace course::cli
