#pragma once
// An array as it travels to the worker and back: guard words, the tensor's storage, guard words.

#include <cstddef>
#include <string_view>
#include <vector>

#include "grading/calls/argument.hpp"
#include "grading/facts/outcome.hpp"

namespace course::grading {

/// Bytes of guard words before an array; at least as many follow it. A block of 1024 threads that forgets its
/// bounds check writes at most this far past the end of an array of 8-byte elements.
inline constexpr std::size_t kGuardBytes = 8192;

/// @brief Bytes of the array itself, gaps included.
std::size_t data_bytes(const ArrayArgument& array);

/// @brief Whole pages that an array takes, guards included.
std::size_t image_bytes(const ArrayArgument& array);

/// @brief Writes the image as the entry is to find it: outputs hold poison, gaps and inputs the tensor's
/// contents. Guard words around inputs are NaNs, so that reading one spoils the result; those around outputs
/// are large finite numbers, so that even a NaN written there is seen.
void fill_image(const ArrayArgument& array, std::byte* image);

/// @brief Everything that changed and should not have: guards, gaps, and inputs; `label` is
/// what to call the array. Cost: reads the guards; with inputs and gaps, the whole image.
std::vector<Violation> image_violations(const ArrayArgument& array, const std::byte* image,
                                        std::string_view label);

/// @brief Copies the results into the tensor. Gaps keep what they held.
void read_image(const ArrayArgument& array, const std::byte* image);

/// @brief Gives the tensor's elements poison: what they hold if the call did not come back.
void poison_output(const ArrayArgument& array);

}  // namespace course::grading
