#include "14_gradients/problems.hpp"

#include <cmath>
#include <cstddef>

#include "grading/testing/case.hpp"
#include "reference/attention.hpp"
#include "reference/softmax.hpp"
#include "tensor/random.hpp"

namespace course::lesson_14 {

using grading::case_seed;

namespace {

Tensor<float> with_gap(const Tensor<float>& x, std::int64_t gap) {
  return laid_out(x, {x.shape()[1] + gap, 1});
}

}  // namespace

Product product_of(const Tensor<float>& X, const Tensor<float>& W, const Tensor<float>& dY) {
  return {X, W, dY, row_major_strides(X.shape()), row_major_strides(W.shape())};
}

Product random_product(std::int64_t M, std::int64_t K, std::int64_t N, Layout x, Layout w, Layout dy) {
  return {laid_out(uniform({M, K}, -1.0f, 2.0f, case_seed()), x(M, K)),
          laid_out(uniform({K, N}, -2.0f, 1.0f, case_seed() + 1), w(K, N)),
          laid_out(uniform({M, N}, -1.0f, 1.5f, case_seed() + 2), dy(M, N)), x(M, K), w(K, N)};
}

Rows rows_of(const Tensor<float>& P, const Tensor<float>& dP) { return {P, dP, P.shape()[1]}; }

Tensor<float> probabilities(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  return reference::softmax(uniform({rows, cols}, -2.0f, 2.0f, seed)).to<float>();
}

Rows random_rows(std::int64_t rows, std::int64_t cols, std::int64_t gap) {
  return {laid_out(probabilities(rows, cols, case_seed()), {cols + gap, 1}),
          laid_out(uniform({rows, cols}, -2.0f, 3.0f, case_seed() + 1), {cols + 2 * gap, 1}), cols + 3 * gap};
}

Rows rows_of_the_notes() {
  return rows_of(Tensor<float>::from({1, 4}, {0.125f, 0.5f, 0.125f, 0.25f}),
                 Tensor<float>::from({1, 4}, {8, 2, 0, 4}));
}

Tensor<double> attention(const Tensor<float>& Q, const Tensor<float>& K, const Tensor<float>& V,
                         float scale) {
  const auto alone = [](const Tensor<float>& x) {
    Tensor<float> head({1, 1, x.shape()[0], x.shape()[1]});
    for (std::int64_t i = 0; i < x.numel(); ++i) head.at_linear(i) = x.at_linear(i);
    return head;
  };
  return reference::attention(alone(Q), alone(K), alone(V), static_cast<double>(scale)).O;
}

Strides strides_of(std::int64_t rows, std::int64_t cols, bool by_columns, std::int64_t between) {
  return by_columns ? Strides{1, rows + between} : Strides{cols + between, 1};
}

Head random_head(std::int64_t Nq, std::int64_t Nk, std::int64_t D, std::int64_t gap, bool by_columns) {
  const auto matrix = [&](std::int64_t rows, std::uint64_t number) {
    return uniform({rows, D}, -1.0f, 1.5f, case_seed() + number);
  };
  const Head dense{matrix(Nq, 1),
                   matrix(Nk, 2),
                   matrix(Nk, 3),
                   with_gap(probabilities(Nq, Nk, case_seed()), gap),
                   matrix(Nq, 4),
                   0.3f,
                   gap};
  std::array<bool, 7> all{};
  all.fill(by_columns);
  return with_columns(dense, all);
}

Head with_columns(Head p, const std::array<bool, 7>& by_columns) {
  std::size_t number = 0;
  for (Tensor<float>* const x : {&p.Q, &p.K, &p.V, &p.dO}) {
    const bool lies_by_columns = by_columns[number++];
    *x = laid_out(
        *x, strides_of(x->shape()[0], p.D(), lies_by_columns, p.gap * static_cast<std::int64_t>(number)));
  }
  p.by_columns = by_columns;
  return p;
}

Head head_of_the_notes() {
  const float ln4 = std::log(4.0f);
  return {Tensor<float>::from({1, 2}, {ln4, ln4}),
          Tensor<float>::from({4, 2}, {1, -1, 3, -1, 0, 0, -1, 2}),
          Tensor<float>::from({4, 2}, {3, 2, 0, 2, 1, -2, 2, 0}),
          rows_of_the_notes().P,
          Tensor<float>::from({1, 2}, {2, 1}),
          0.5f};
}

}  // namespace course::lesson_14
