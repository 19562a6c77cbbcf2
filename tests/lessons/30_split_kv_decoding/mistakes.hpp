#pragma once
/// @file
/// What the tests of lesson 30 know of wrong kernels.

#include "30_split_kv_decoding/decoding.hpp"
#include "attention/checks.hpp"

namespace course::lesson_30 {

/// The entries' results, and the mistakes in them.
Kernel kernel_of_lesson();

/// The sequences that are compared from here on are those of `x`, which has to live as long.
void compare_sequences_of(const Decoding& x);

}  // namespace course::lesson_30
