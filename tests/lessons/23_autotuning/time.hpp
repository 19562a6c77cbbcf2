#pragma once
/// @file
/// What milliseconds() returns.

#include "23_autotuning/autotuning.hpp"
#include "tensor/random.hpp"

namespace course::lesson_23 {

/// @brief Times products of the type: that of the smallest kernel's tile, and one of 250 times the work.
void check_milliseconds(Type type, Random& random);

}  // namespace course::lesson_23
