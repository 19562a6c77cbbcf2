#pragma once
/// @file
/// Well-known mistakes of lesson 14, as sentences about a wrong result.

#include "14_gradients/problems.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_14 {

grading::Mistakes mistakes_in_dx(const Product& p);
grading::Mistakes mistakes_in_dw(const Product& p);
grading::Mistakes mistakes_in_ds(const Rows& p);

/// What attention_backward left, without gaps.
struct HeadGradients {
  Tensor<float> dP, dS, dQ, dK, dV;
};

grading::Mistakes mistakes_in_dp(const Head& p);
grading::Mistakes mistakes_in_dv(const Head& p, const HeadGradients& got);
/// Of dQ = dS·K·scale, or of dK = dSᵀ·Q·scale.
grading::Mistakes mistakes_behind_ds(const Head& p, const HeadGradients& got, bool of_keys);

}  // namespace course::lesson_14
