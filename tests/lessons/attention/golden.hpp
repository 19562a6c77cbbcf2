#pragma once
/// @file
/// The golden cases of attention in 16 bits, which PyTorch computed in float64:
/// tests/reference/golden_16_torch/README.md.

#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "tensor/tensor.hpp"

namespace course::attention_tests {

struct Golden {
  std::string name;
  Problem problem;
  Tensor<float> dO;
  bool gradients;  ///< whether there are any

  /// A result: "o", "lse", "dq_of_rounded_o" ...
  Tensor<double> result(const std::string& file) const;
};

/// @brief All of them, in both types.
std::vector<Golden> golden_cases_of_16_bits();

}  // namespace course::attention_tests
