#include "reference/transpose.hpp"

#include <stdexcept>

#include "support/catch.hpp"
#include "tensor/random.hpp"

using namespace course;

TEST_CASE("the reference transposes a matrix into a contiguous one") {
  const auto x = Tensor<float>::from({2, 3}, {1, 2, 3, 5, 8, 13});

  const Tensor<double> y = reference::transpose(x);

  REQUIRE(y.shape() == Shape{3, 2});
  REQUIRE(y.is_contiguous());
  const Tensor<double> expected = Tensor<double>::from({3, 2}, {1, 5, 2, 8, 3, 13});
  for (std::int64_t i = 0; i < 6; ++i) CHECK(y.at_linear(i) == expected.at_linear(i));
}

TEST_CASE("the reference transposes by index, whatever the strides") {
  Tensor<float> x({4, 5}, {2, 11}, 99.0f);  // gaps along both axes, columns closer together than rows
  for (std::int64_t i = 0; i < x.numel(); ++i) x.at_linear(i) = static_cast<float>(i);

  const Tensor<double> y = reference::transpose(x);

  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t col = 0; col < 5; ++col) CHECK(y(col, row) == static_cast<double>(x(row, col)));
  }
}

TEST_CASE("the reference transposes matrices without elements") {
  CHECK(reference::transpose(Tensor<float>({0, 3})).shape() == Shape{3, 0});
  CHECK(reference::transpose(Tensor<float>({3, 0})).shape() == Shape{0, 3});
}

TEST_CASE("the reference transposes nothing but matrices") {
  REQUIRE_THROWS_AS(reference::transpose(Tensor<float>({6})), std::invalid_argument);
  REQUIRE_THROWS_WITH(reference::transpose(Tensor<float>({6})),
                      "transpose needs a matrix, but x has shape (6).");
}
