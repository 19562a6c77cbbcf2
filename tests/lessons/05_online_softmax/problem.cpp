#include "05_online_softmax/problem.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "grading/testing/case.hpp"
#include "tensor/random.hpp"

namespace course::lesson_05 {

using grading::case_seed;

Tensor<float> with_row_stride(const Tensor<float>& dense, std::int64_t row_stride, float gap) {
  Tensor<float> x(dense.shape(), {row_stride, 1}, gap);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.at_linear(i) = dense.at_linear(i);
  return x;
}

Problem random_problem(std::int64_t rows, std::int64_t cols, std::int64_t x_row_stride) {
  return {with_row_stride(uniform({rows, cols}, -4.0f, 4.0f, case_seed()), x_row_stride)};
}

Problem problem_of_one_thread(const std::vector<std::vector<float>>& rows) {
  const auto count = static_cast<std::int64_t>(rows[0].size());
  Problem p{Tensor<float>({static_cast<std::int64_t>(rows.size()), (count - 1) * 1024 + 1}, -kInf)};
  for (std::int64_t row = 0; row < p.rows(); ++row)
    for (std::int64_t j = 0; j < count; ++j)
      p.x(row, j * 1024) = rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(j)];
  return p;
}

Problem problem_of_two_threads(std::int64_t their_col) {
  const std::array<std::array<float, 2>, 4> mine_theirs{{{3, 5}, {5, 3}, {-2, -1}, {-9, 4}}};
  Problem p{Tensor<float>({4, std::max<std::int64_t>(1024, their_col) + 1}, -kInf)};
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    const auto [mine, theirs] = mine_theirs[static_cast<std::size_t>(row)];
    p.x(row, 0) = p.x(row, 1024) = mine;
    p.x(row, their_col) = theirs;
  }
  return p;
}

}  // namespace course::lesson_05
