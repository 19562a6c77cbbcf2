#pragma once
/// @file
/// What the checks of forward and backward kernels have in common.

#include <vector>

#include "attention/checks.hpp"
#include "grading/testing/settings.hpp"
#include "tensor/tensor.hpp"

namespace course::attention_tests {

/// Whether a result holds nothing but poison, and anything at all.
bool never_written(const Tensor<float>& x);

/// Each axis in turn one larger, which fits no other size.
std::vector<Shape> other_shapes(const Shape& shape);

Tensor<float> ones(Shape shape);

/// Work in tiles of 64 queries and 64 keys, whole or in part.
Int tiles_of(const Problem& p);

/// @brief The settings causal, window and sinks, with these defaults.
/// @throws grading::RunError for settings that the kernel does not have.
reference::Mask read_mask(grading::Settings& settings, const Takes& takes,
                          const reference::Mask& defaults = {});

}  // namespace course::attention_tests
