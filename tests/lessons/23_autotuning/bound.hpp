#pragma once
/// @file
/// The bound from what check mode counts, as a cost.

#include <cstdint>
#include <vector>

#include "23_autotuning/autotuning.hpp"

namespace course::lesson_23 {

/// What one block of each kernel for that type takes, for K steps of k; 0 for the other kernels. Empty on a
/// GPU, where nothing is counted.
std::vector<double> cycles_of_blocks(Type type, std::int64_t K);

/// The cost of each kernel: what its blocks take on the busiest multiprocessor.
std::vector<double> bounds_of(const std::vector<double>& cycles, const ProblemSize& size,
                              const Device& device);

}  // namespace course::lesson_23
