#include "reference/weighted_row_sum.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/catch.hpp"

using namespace course;

TEST_CASE("the reference weighs and sums each row in float64") {
  const auto x = Tensor<float>::from({2, 3}, {1.0f, 2.0f, 3.0f, 0x1p24f, 1.0f, -0x1p24f});
  const auto w = Tensor<float>::from({3}, {2.0f, -1.0f, 2.0f});

  const Tensor<double> y = reference::weighted_row_sum(x, w);

  REQUIRE(y.shape() == Shape{2});
  CHECK(y(0) == 6.0);
  CHECK(y(1) == -1.0);  // float32 would lose the 1
}

TEST_CASE("the reference sums the columns of a transposed matrix, and no gap between rows") {
  Tensor<float> x({2, 3}, {5, 1}, 99.0f);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.at_linear(i) = static_cast<float>(i);

  const auto ones2 = Tensor<float>({2}, 1.0f), ones3 = Tensor<float>({3}, 1.0f);
  const Tensor<double> rows = reference::weighted_row_sum(x, ones3);
  const Tensor<double> columns = reference::weighted_row_sum(x.transposed(0, 1), ones2);

  CHECK(rows(0) == 3.0);
  CHECK(rows(1) == 12.0);
  CHECK(columns(0) == 3.0);
  CHECK(columns(1) == 5.0);
  CHECK(columns(2) == 7.0);
}

TEST_CASE("the reference keeps infinities and NaN in their own row, also under a weight of 0") {
  const float inf = std::numeric_limits<float>::infinity();
  const auto x = Tensor<float>::from({3, 2}, {1.0f, 2.0f, 1.0f, inf, -inf, 1.0f});
  const auto w = Tensor<float>::from({2}, {1.0f, 0.0f});

  const Tensor<double> y = reference::weighted_row_sum(x, w);

  CHECK(y(0) == 1.0);
  CHECK(std::isnan(y(1)));
  CHECK(y(2) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("the reference gives 0 for rows of no columns, and nothing for no rows") {
  const Tensor<double> y = reference::weighted_row_sum(Tensor<float>({2, 0}), Tensor<float>({0}));
  REQUIRE(y.shape() == Shape{2});
  CHECK(y(0) == 0.0);
  CHECK(reference::weighted_row_sum(Tensor<float>({0, 4}), Tensor<float>({4})).numel() == 0);
}

TEST_CASE("the reference refuses weights that do not fit the columns") {
  REQUIRE_THROWS_AS(reference::weighted_row_sum(Tensor<float>({2, 3}), Tensor<float>({2})),
                    std::invalid_argument);
  REQUIRE_THROWS_AS(reference::weighted_row_sum(Tensor<float>({3}), Tensor<float>({3})),
                    std::invalid_argument);
}
