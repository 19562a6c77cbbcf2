#include "02_matrix_strides/matrices.hpp"

#include "grading/testing/case.hpp"
#include "tensor/random.hpp"

namespace course::lesson_02 {

using namespace grading;

namespace {

constexpr float kGap = -1.0f;  // what lies between the elements of src

}  // namespace

Tensor<float> numbered(std::int64_t rows, std::int64_t cols, Strides strides) {
  if (strides.empty()) strides = row_major_strides({rows, cols});
  Tensor<float> x({rows, cols}, strides, kGap);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t col = 0; col < cols; ++col) x(row, col) = static_cast<float>(1000 * row + col);
  return x;
}

Tensor<float> counted(std::int64_t rows, std::int64_t cols) {
  Tensor<float> x({rows, cols});
  for (std::int64_t i = 0; i < x.numel(); ++i) x.at_linear(i) = static_cast<float>(i);
  return x;
}

Tensor<float> with_random_numbers(const Tensor<float>& like) {
  Tensor<float> x = like;
  const Tensor<float> numbers = uniform(like.shape(), -1.0f, 1.0f, case_seed());
  for (std::int64_t i = 0; i < x.numel(); ++i) x.at_linear(i) = numbers.at_linear(i);
  return x;
}

Strides row_major(std::int64_t, std::int64_t cols) { return {cols, 1}; }
Strides column_major(std::int64_t rows, std::int64_t) { return {1, rows}; }

std::vector<Shape> counted_shapes() {
  Random random(case_seed());
  return {{96, 160}, {136, 72}, {8 * random.integer(5, 20), 8 * random.integer(5, 20)}};
}

std::vector<Shape> counted_shapes_of_copies() {
  Random random(case_seed());
  return {{72, 136}, {8 * random.integer(5, 16), 8 * random.integer(5, 16)}};
}

}  // namespace course::lesson_02
