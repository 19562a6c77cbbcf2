#pragma once
/// @file
/// Well-known mistakes of lesson 02, as sentences about a wrong result.

#include "grading/facts/outcome.hpp"
#include "grading/testing/mistakes.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_02 {

/// The matrix must outlive the mistakes. Strides are those of dst.
grading::Mistakes mistakes_of_copy(const Tensor<float>& src, const Strides& strides,
                                   const grading::Outcome& outcome);

/// The matrix must outlive the mistakes.
grading::Mistakes mistakes_of_transpose(const Tensor<float>& x, const grading::Outcome& outcome);

}  // namespace course::lesson_02
