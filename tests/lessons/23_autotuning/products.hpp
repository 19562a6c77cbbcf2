#pragma once
/// @file
/// Products by the kernels of lesson 23.

#include <cstdint>

#include "23_autotuning/autotuning.hpp"
#include "grading/testing/lesson_test.hpp"
#include "products/problem.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_23 {

/// The same problem, its numbers rounded to the type of the configuration.
products::Problem in_type_of(const Configuration& c, products::Problem p);

/// Nothing to sum, into a C that is neither row-major nor without gaps.
products::Problem problem_of_no_depth(std::int64_t M, std::int64_t N);

/// By matmul_with().
grading::Outcome multiply(const products::Problem& p, Tensor<float>& C, const Configuration& c,
                          const grading::CallOptions& options = {});

/// C is the product of a problem whose numbers are of the type of the configuration.
void require_product(const Tensor<float>& C, const products::Problem& p, const Configuration& c,
                     const grading::Mistakes& mistakes = {});

/// The product, by a launch such as the configuration asks for.
grading::Outcome check_product(const products::Problem& any, const Configuration& c, Tensor<float>& C,
                               const grading::CallOptions& options = {});
grading::Outcome check_product(const products::Problem& p, const Configuration& c,
                               const grading::CallOptions& options = {});

/// Each kernel for that type has as many stages as its configuration says.
void require_stages(Type type);

/// Refuses A and B of bfloat16 whose rows cannot be copied 16 bytes at a time, of any size.
void check_chunks_along_rows(Random& random);

}  // namespace course::lesson_23
