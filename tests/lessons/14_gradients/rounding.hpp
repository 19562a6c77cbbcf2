#pragma once
/// @file
/// What a float32 program of lesson 14 may lose.

#include "14_gradients/problems.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_14 {

/// A·B in the order of k, with fused multiply-adds or without, whichever loses more.
Tensor<float> in_order(const Tensor<float>& A, const Tensor<float>& B, const Tensor<double>& expected);

/// Each row in that one of eight ways that loses most: all eight are sensible ones.
Tensor<float> in_32_parts(const Rows& p, const Tensor<double>& expected);

}  // namespace course::lesson_14
