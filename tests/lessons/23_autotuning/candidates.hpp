#pragma once
/// @file
/// What configurations() finds.

#include <vector>

#include "23_autotuning/autotuning.hpp"
#include "tensor/random.hpp"

namespace course::lesson_23 {

std::vector<Configuration> candidates_of(const ProblemSize& size, const Device& device);

/// expected: places in kCompiled.
void check_candidates(const ProblemSize& size, const Device& device, const std::vector<int>& expected);

/// Checks the candidates of a device and a size that nobody knows beforehand.
void check_random_candidates(Random& random, const ProblemSize& least, const ProblemSize& most);

}  // namespace course::lesson_23
