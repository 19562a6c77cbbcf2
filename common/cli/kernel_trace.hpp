#pragma once
/// @file
/// What `trace` and `draw` have in common: the accesses of one block of a lesson's kernel.

#include <cstddef>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/workspace.hpp"

namespace course::cli {

struct KernelTrace {
  grading::Lesson lesson;
  std::string json;  ///< as simt::report::trace_json() writes it
};

/// @brief Builds the kernel and runs its tests in check mode until a call launches the block. Says on stderr
/// why there is no trace, if there is none.
/// @param most_steps  warp instructions after which recording stops
/// @throws UsageError, grading::UnknownLesson, grading::MachineError
std::optional<KernelTrace> trace_kernel(const Terminal& terminal, const std::string& command,
                                        const TraceArguments& arguments, std::size_t most_steps);

}  // namespace course::cli
