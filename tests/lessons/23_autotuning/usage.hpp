#pragma once
/// @file
/// What the kernels of lesson 23 take of a multiprocessor.

#include <vector>

#include "23_autotuning/autotuning.hpp"

namespace course::lesson_23 {

/// @brief What the kernel of a configuration takes. padding: floats that are left over for each step of k, in
/// float32.
Usage usage_of_kernel(const Configuration& c, int padding = 8);

void check_usages(const std::vector<Configuration>& all);

}  // namespace course::lesson_23
