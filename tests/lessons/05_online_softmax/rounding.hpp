#pragma once
/// @file
/// What a float32 program of lesson 05 may lose.

#include "05_online_softmax/problem.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_05 {

/// Each row in that one of several sensible ways that loses most.
Tensor<float> sums_in_float32(const Problem& p, const Tensor<double>& expected);

Tensor<float> softmax_in_float32(const Problem& p, const Tensor<double>& expected);

}  // namespace course::lesson_05
