#pragma once
/// @file
/// From a benchmark's source and a kernel to a program for this machine's GPU.

#include <filesystem>
#include <string>
#include <vector>

#include "grading/build/kernel_build.hpp"

namespace course::grading {

/// @brief The source of the lesson's benchmark, whether it is there or not.
std::filesystem::path benchmark_source(const Lesson& lesson);

/// @brief Compiles a lesson's benchmark together with a kernel. BuildOutcome::library is the program. It is
/// kept and found again as kernels are: as long as both sources, all that they include, the flags and the
/// compilers are what they were. May be called from several threads at once.
/// @param architectures  for which to compile, e.g. {"90a"}
/// @throws MachineError, Interrupted
BuildOutcome build_benchmark(const Toolchain& toolchain, const Lesson& lesson,
                             const std::filesystem::path& kernel,
                             const std::vector<std::string>& architectures);

/// @brief The same for the program that measures the ceilings: without cuBLAS where the toolkit has none.
BuildOutcome build_ceilings(const Toolchain& toolchain, const std::vector<std::string>& architectures);

}  // namespace course::grading
